{{ artifact('judged_dataset', 'costs', {
    'task': 'text', 'stage': 'text', 'calls': 'int', 'prompt_tokens': 'int', 'completion_tokens': 'int',
    'cost': 'double', 'seconds': 'double',
}) }}
