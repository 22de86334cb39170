-- The mart and the exported dataset hold the same records: rows that only one of them has are errors.
select record_id, count(*) as sides
from (
    select record_id from {{ ref('kept_records') }}
    union all
    select record_id from {{ ref('stg_dataset_records') }}
) as both_sides
group by record_id
having count(*) <> 2
