{#
    The table `table_name` of `asset`, all partitions together, as a select with exactly the given columns.

    `columns` maps names to portable types: text, double, int, bool. A store without such a table gives a relation
    without rows, so that marts build before the first dataset is made.
#}
{% macro artifact(asset, table_name, columns) %}
    {#- this call records the lineage; where the files lie is told below -#}
    {%- set _ = source('store', asset) -%}
    {%- if execute and starling_files(asset, table_name) == 0 -%}
        select
        {%- for name, type in columns.items() %}
            cast(null as {{ starling_type(type) }}) as {{ name }}{{ "," if not loop.last }}
        {%- endfor %}
        where 1 = 0
    {%- else -%}
        select
        {%- for name, type in columns.items() %}
            cast({{ name }} as {{ starling_type(type) }}) as {{ name }}{{ "," if not loop.last }}
        {%- endfor %}
        from {{ starling_scan(asset, table_name) }}
    {%- endif -%}
{% endmacro %}


{# Location of one artifact table of all tasks, as an SQL string literal's content. #}
{% macro starling_location(asset, table_name) -%}
    {{ env_var('STARLING_STORE', '.starling/store') | replace("'", "''") }}/{{ asset }}/*/{{ table_name }}.parquet
{%- endmacro %}


{% macro starling_files(asset, table_name) %}{{ return(adapter.dispatch('starling_files', 'starling')(asset, table_name)) }}{% endmacro %}

{% macro default__starling_files(asset, table_name) %}
    {%- set found = run_query("select count(*) from glob('" ~ starling_location(asset, table_name) ~ "')") -%}
    {{ return(found.columns[0].values()[0] | int) }}
{% endmacro %}


{% macro starling_scan(asset, table_name) %}{{ return(adapter.dispatch('starling_scan', 'starling')(asset, table_name)) }}{% endmacro %}

{% macro default__starling_scan(asset, table_name) -%}
    {{ return("read_parquet('" ~ starling_location(asset, table_name) ~ "', union_by_name = true)") }}
{%- endmacro %}


{% macro starling_type(type) %}{{ return(adapter.dispatch('starling_type', 'starling')(type)) }}{% endmacro %}

{% macro default__starling_type(type) -%}
    {{ return({'text': 'varchar', 'double': 'double', 'bool': 'boolean', 'int': 'bigint'}[type]) }}
{%- endmacro %}
