{# ClickHouse's ways of what artifacts.sql and json_fields.sql do on DuckDB. #}

{#
    The server reads the files itself: from an object store where STARLING_STORE is an s3:// or https:// address, else
    from its own file system, where the store has to lie below `user_files_path`.
#}
{% macro clickhouse__starling_scan(asset, table_name) -%}
    {%- set location = starling_location(asset, table_name) | trim -%}
    {%- set engine = 's3' if location.startswith('s3://') or location.startswith('http') else 'file' -%}
    {{ return(engine ~ "('" ~ location ~ "', 'Parquet')") }}
{%- endmacro %}

{% macro clickhouse__starling_files(asset, table_name) %}
    {%- set files = clickhouse__starling_scan(asset, table_name) | replace("'Parquet'", "'One'") -%}
    {%- set found = run_query("select count() from " ~ files) -%}
    {{ return(found.columns[0].values()[0] | int) }}
{% endmacro %}

{% macro clickhouse__starling_type(type) -%}
    {{ return({
        'text': 'Nullable(String)', 'double': 'Nullable(Float64)', 'bool': 'Nullable(Bool)', 'int': 'Nullable(Int64)',
    }[type]) }}
{%- endmacro %}

{% macro clickhouse__starling_json_fields(relation, task, column) -%}
    {%- set sql -%}
    select
        {{ task }},
        tupleElement(keyed, 1) as field,
        tupleElement(keyed, 2) not in ('null', '""', '[]', '{}') as given
    from {{ relation }}
    array join JSONExtractKeysAndValuesRaw(assumeNotNull({{ column }})) as keyed
    where nullif({{ column }}, '') is not null
    {%- endset -%}
    {{ return(sql) }}
{%- endmacro %}
