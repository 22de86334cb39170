-- Share of kept records in which a field holds a value: the universal fields, and every key of the task's own fields.
{%- set universal = [
    'pmid', 'concept_id', 'smiles', 'inchikey', 'sequence', 'label', 'value', 'qualifier', 'unit_text',
    'normalised_value', 'normalised_unit',
] %}
with kept as (

    select * from {{ ref('kept_records') }}

),

records as (

    select task, count(*) as records from kept group by task

),

filled as (

    {% for name in universal -%}
    select
        task,
        '{{ name }}' as field,
        'universal' as origin,
        sum(case when nullif(cast({{ name }} as {{ starling_type('text') }}), '') is null then 0 else 1 end) as filled
    from kept
    group by task

    union all

    {% endfor -%}
    select
        task,
        field,
        'task' as origin,
        sum(case when given then 1 else 0 end) as filled
    from ({{ starling_json_fields('kept', 'task', 'fields') }}) as exploded
    group by task, field

)

select
    filled.task as task,
    filled.field as field,
    filled.origin as origin,
    records.records as records,
    filled.filled as filled,
    filled.filled / cast(records.records as {{ starling_type('double') }}) as fill_rate
from filled
inner join records on filled.task = records.task
