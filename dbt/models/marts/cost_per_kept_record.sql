-- What a task cost in all its stages, per record that was kept. No cost per record where none was kept.
with records as (

    select
        task,
        count(*) as judged,
        sum(case when kept then 1 else 0 end) as kept
    from {{ ref('stg_judged_records') }}
    group by task

),

costs as (

    select
        task,
        sum(calls) as calls,
        sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens,
        sum(cost) as cost,
        sum(seconds) as seconds
    from {{ ref('stg_stage_costs') }}
    group by task

),

tasks as (

    select task from records
    union distinct
    select task from costs

)

select
    tasks.task as task,
    coalesce(records.judged, 0) as judged,
    coalesce(records.kept, 0) as kept,
    coalesce(costs.calls, 0) as calls,
    coalesce(costs.prompt_tokens, 0) as prompt_tokens,
    coalesce(costs.completion_tokens, 0) as completion_tokens,
    coalesce(costs.cost, 0) as cost,
    coalesce(costs.seconds, 0) as seconds,
    case when records.kept > 0 then coalesce(costs.cost, 0) / records.kept end as cost_per_kept_record
from tasks
left join records on tasks.task = records.task
left join costs on tasks.task = costs.task
