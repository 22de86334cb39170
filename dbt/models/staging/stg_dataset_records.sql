{{ artifact('judged_dataset', 'data', {'record_id': 'text', 'task': 'text'}) }}
