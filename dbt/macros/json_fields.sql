{#
    One row per record and key of a JSON object column: the key as `field`, and whether it is `given` (not null, not an
    empty text, not an empty list). A record without the column gives no row.
#}
{% macro starling_json_fields(relation, task, column) %}{{ return(adapter.dispatch('starling_json_fields', 'starling')(relation, task, column)) }}{% endmacro %}

{% macro default__starling_json_fields(relation, task, column) -%}
    {%- set sql -%}
    select
        {{ task }},
        keyed.key as field,
        coalesce(trim(keyed.value ->> '$'), '') not in ('', '[]', '{}') as given
    from {{ relation }}, lateral (select key, value from json_each({{ column }})) as keyed
    where nullif({{ column }}, '') is not null
    {%- endset -%}
    {{ return(sql) }}
{%- endmacro %}
