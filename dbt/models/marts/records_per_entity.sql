-- How often each entity carries each label, and in how many papers. A null label counts as one of its own.
with labelled as (

    select
        task,
        entity_key,
        paper_id,
        coalesce(nullif(concept_name, ''), entity) as entity_name,
        entity_type,
        inchikey,
        coalesce(label, '') as label_text
    from {{ ref('kept_records') }}

),

counted as (

    select
        task,
        entity_key,
        label_text,
        count(*) as records,
        count(distinct paper_id) as papers
    from labelled
    group by task, entity_key, label_text

),

totals as (

    select
        task,
        entity_key,
        min(entity_name) as entity_name,
        min(entity_type) as entity_type,
        min(inchikey) as inchikey,
        count(*) as entity_records,
        count(distinct paper_id) as entity_papers,
        count(distinct label_text) as entity_labels
    from labelled
    group by task, entity_key

)

select
    counted.task as task,
    counted.entity_key as entity_key,
    totals.entity_name as entity_name,
    totals.entity_type as entity_type,
    totals.inchikey as inchikey,
    counted.label_text as label,
    counted.records as records,
    counted.papers as papers,
    totals.entity_records as entity_records,
    totals.entity_papers as entity_papers,
    totals.entity_labels as entity_labels,
    counted.records / cast(totals.entity_records as {{ starling_type('double') }}) as label_share
from counted
inner join totals
    on counted.task = totals.task and counted.entity_key = totals.entity_key
