{{ artifact('judged_dataset', 'judged', {
    'record_id': 'text', 'task': 'text', 'paper_id': 'text', 'pmid': 'text',
    'entity': 'text', 'entity_type': 'text', 'concept_id': 'text', 'concept_name': 'text',
    'smiles': 'text', 'inchikey': 'text', 'sequence': 'text', 'alignment': 'text',
    'label': 'text', 'value_text': 'text', 'value': 'double', 'qualifier': 'text', 'unit_text': 'text',
    'normalised_value': 'double', 'normalised_unit': 'text', 'fields': 'text',
    'model': 'text', 'prompt': 'text', 'schema_hash': 'text', 'licence': 'text', 'retracted': 'bool',
    'support_fidelity': 'bool', 'task_relevance': 'bool', 'entity_attribution': 'bool',
    'label_correctness': 'bool', 'accuracy': 'bool', 'kept': 'bool',
}) }}
