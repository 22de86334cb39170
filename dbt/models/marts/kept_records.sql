-- Records that passed all five axes, one row each, without the bookkeeping columns.
select
    record_id,
    task,
    paper_id,
    pmid,
    entity,
    entity_type,
    concept_id,
    concept_name,
    coalesce(nullif(concept_id, ''), lower(entity)) as entity_key,
    smiles,
    inchikey,
    sequence,
    label,
    qualifier,
    value,
    value_text,
    unit_text,
    normalised_value,
    normalised_unit,
    fields,
    licence,
    coalesce(retracted, false) as retracted
from {{ ref('stg_judged_records') }}
where kept
