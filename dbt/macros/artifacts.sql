{#
    An artifact table of all tasks, as a relation with exactly the given columns.

    `columns` maps names to portable types (text, double, bool, int, list of quotes is not portable: see `evidence`).
    A store without such a table gives a relation without rows, so that marts build before the first dataset is made.
#}
{% macro artifact(source_name, table_name, columns) %}
    {#- the call records the lineage; the location is built below -#}
    {%- set _ = source(source_name, table_name) -%}
    {%- if execute and starling_files(source_name, table_name) == 0 -%}
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
        from {{ starling_scan(source_name, table_name) }}
    {%- endif -%}
{% endmacro %}


{# Location of one artifact table of all tasks, as an SQL string literal's content. #}
{% macro starling_location(source_name, table_name) -%}
    {{ env_var('STARLING_STORE', '.starling/store') | replace("'", "''") }}/{{ source_name }}/*/{{ table_name }}.parquet
{%- endmacro %}


{% macro starling_files(source_name, table_name) %}{{ return(adapter.dispatch('starling_files', 'starling')(source_name, table_name)) }}{% endmacro %}

{% macro default__starling_files(source_name, table_name) %}
    {%- set found = run_query("select count(*) from glob('" ~ starling_location(source_name, table_name) ~ "')") -%}
    {{ return(found.columns[0].values()[0] | int) }}
{% endmacro %}


{% macro starling_scan(source_name, table_name) %}{{ return(adapter.dispatch('starling_scan', 'starling')(source_name, table_name)) }}{% endmacro %}

{% macro default__starling_scan(source_name, table_name) -%}
    {{ return("read_parquet('" ~ starling_location(source_name, table_name) ~ "', union_by_name = true)") }}
{%- endmacro %}


{% macro starling_type(type) %}{{ return(adapter.dispatch('starling_type', 'starling')(type)) }}{% endmacro %}

{% macro default__starling_type(type) -%}
    {{ return({'text': 'varchar', 'double': 'double', 'bool': 'boolean', 'int': 'bigint'}[type]) }}
{%- endmacro %}
