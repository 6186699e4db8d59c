-- The cost of each owner in a month: AWS's FOCUS 1.2 export (bill) split by the ledger (rows), for DuckDB and Athena.
-- Parameters: the month, such as 2026-10, whether to accept an incomplete month, whether rows are also by instance, and
-- the month twice more, so that Athena reads only the partitions of that month.
-- Each cost is busy, avoidable, shared, committed or unknown, by the core-minutes of the ledger's row.
-- Amounts are whole units of 1e-18 USD. Only whole(a, b) differs between the engines: a / b rounded down, for a >= 0 and
-- b > 0. The rest after rounding down goes, unit by unit, to the largest remainders. Athena scans a table for each use of
-- a CTE: the bill once and one of its columns twice more, and the ledger, which is small, four times.
-- The command sees the ledger's objects and adds rows of the instance 'month': '[settled]' for an hour with all objects,
-- '[missing]' for any other hour. In Athena an hour without any row is missing.
WITH asked AS (SELECT CAST(? AS VARCHAR) AS month, CAST(? AS BOOLEAN) AS incomplete, CAST(? AS BOOLEAN) AS by_instance),
digits (n) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)),
type_cores (name, cores, most) AS (VALUES -- at the default logical core size, and the maximum at any size
  ('inf1.xlarge', 4, 4), ('inf1.2xlarge', 4, 4), ('inf1.6xlarge', 16, 16), ('inf1.24xlarge', 64, 64),
  ('inf2.xlarge', 2, 2), ('inf2.8xlarge', 2, 2), ('inf2.24xlarge', 12, 12), ('inf2.48xlarge', 24, 24),
  ('trn1.2xlarge', 2, 2), ('trn1.32xlarge', 32, 32), ('trn1n.32xlarge', 32, 32), ('trn2.3xlarge', 4, 8),
  ('trn2.48xlarge', 64, 128), ('trn2u.48xlarge', 64, 128), ('trn3pd98.3xlarge', 4, 8), ('trn3s-es.3xlarge', 4, 8),
  ('trn3sn.3xlarge', 4, 8), ('trn3sn-es.3xlarge', 4, 8), ('trn3e.24xlarge', 16, 32), ('trn3en.24xlarge', 16, 32),
  ('trn3.48xlarge', 64, 128), ('trn3n.48xlarge', 64, 128), ('trn3p.48xlarge', 64, 128), ('trn3s-es.48xlarge', 64, 128),
  ('trn3sn.48xlarge', 64, 128), ('trn3sn-es.48xlarge', 64, 128)),

-- The bill: rows of Neuron instances, of reservations, and of HyperPod, which cannot be split.
bill_months AS (SELECT DISTINCT substr(CAST(billingperiodstart AS VARCHAR), 1, 7) AS billed FROM bill),
bill_rows AS (
  SELECT substr(CAST(billingperiodstart AS VARCHAR), 1, 7) AS billed,
    substr(replace(CAST(chargeperiodstart AS VARCHAR), 'T', ' '), 1, 13) AS hour,
    substr(CAST(chargeperiodend AS VARCHAR), 1, 10) AS end_day, chargecategory, chargeclass, chargedescription,
    commitmentdiscountid, coalesce(resourceid, '') AS resource_id, skumeter,
    nullif(regexp_extract(resourceid, '^(.*/)?(i-[0-9a-f]{8,32})$', 2), '') AS instance_id,
    nullif(regexp_extract(capacityreservationid, '[^/]+$', 0), '') AS reservation,
    nullif(regexp_extract(skumeter, ':([a-z][a-z0-9-]*\.[a-z0-9]+)$', 1), '') AS type,
    nullif(regexp_extract(skumeter, ':(inf|trn)[0-9][a-z0-9-]*\.[a-z0-9]+$', 1), '') IS NOT NULL AS is_neuron,
    coalesce(x_servicecode = 'AmazonEC2' AND x_operation LIKE 'RunInstances%', false) AS runs,
    coalesce(x_servicecode = 'AmazonSageMaker' AND skumeter LIKE '%Cluster:ml.%', false) AS is_hyperpod,
    coalesce(CAST(CAST(consumedquantity AS VARCHAR) AS DECIMAL(38, 18)), 0) AS quantity,
    CAST(coalesce(CAST(effectivecost AS VARCHAR), 'no EffectiveCost') AS DECIMAL(38, 18)) AS effective,
    coalesce(CAST(CAST(billedcost AS VARCHAR) AS DECIMAL(38, 18)), 0) AS invoiced
  FROM bill
  WHERE skumeter LIKE '%:inf%' OR skumeter LIKE '%:trn%' OR skumeter LIKE '%Cluster:ml.inf%'
    OR skumeter LIKE '%Cluster:ml.trn%' OR capacityreservationid LIKE '%cr-%'
),
bill_kinds AS (
  SELECT *, coalesce(reservation, resource_id) AS fee_group,
    CASE
      WHEN chargecategory = 'Purchase' AND reservation IS NOT NULL AND (is_neuron OR type IS NULL) THEN 'fee'
      WHEN chargecategory = 'Usage' AND is_hyperpod THEN 'hyperpod'
      WHEN chargecategory = 'Usage' AND NOT is_neuron AND reservation IS NOT NULL THEN 'other'
      WHEN NOT (runs AND is_neuron) THEN NULL
      WHEN chargecategory = 'Usage' AND coalesce(chargeclass, '') <> 'Correction' THEN 'usage'
      WHEN chargecategory IN ('Usage', 'Credit', 'Adjustment') THEN 'credit'
    END AS kind,
    CAST(replace(CAST(CASE WHEN chargecategory = 'Purchase' AND effective = 0 THEN invoiced ELSE effective END
      AS VARCHAR), '.', '') AS DECIMAL(38, 0)) AS units,
    quantity AS hours, CAST(quantity * 1000000 AS DECIMAL(38, 0)) AS weight
  FROM bill_rows
),
-- A copy of a row has the same amounts, except for digits below 1e-9 that rounding changes. Two equal credits are two
-- credits. A row longer than an hour, or from midnight into another day, is from a daily export.
bill_copies AS (
  SELECT *, CASE WHEN kind IN ('usage', 'fee') AND hours - lag(hours) OVER same < 0.000000001
      AND abs(units - lag(units) OVER same) < 1000000000 THEN 1 ELSE 0 END AS is_copy,
    CASE WHEN kind = 'usage' AND instance_id IS NOT NULL AND (hours > 1.01
      OR (substr(hour, 12) IN ('', '00') AND end_day > substr(hour, 1, 10))) THEN 1 ELSE 0 END AS is_daily
  FROM bill_kinds WHERE kind IS NOT NULL WINDOW same AS (PARTITION BY billed, hour, resource_id, reservation, skumeter,
    chargecategory, chargeclass, chargedescription, commitmentdiscountid ORDER BY hours, units)
),

-- Fees of capacity blocks are spread over the usage of their reservation that AWS bills at 0. Usage at the edge of a
-- month may continue beyond it, so the bill must have the month there.
reservations AS (
  SELECT *, sum(CASE kind WHEN 'fee' THEN units ELSE 0 END) OVER r AS fee,
    max(CASE kind WHEN 'fee' THEN billed END) OVER r AS fee_billed,
    sum(CASE kind WHEN 'usage' THEN abs(units) ELSE 0 END) OVER r AS amortized,
    sum(CASE kind WHEN 'usage' THEN weight ELSE 0 END) OVER r AS weights,
    min(CASE kind WHEN 'usage' THEN hour || ':00:00' END) OVER r AS first_hour,
    max(CASE kind WHEN 'usage' THEN hour || ':00:00' END) OVER r AS last_hour,
    sum(CASE kind WHEN 'other' THEN 1 ELSE 0 END) OVER r AS others
  FROM bill_copies WINDOW r AS (PARTITION BY fee_group)
),
fee_ways AS (
  SELECT *, abs(fee) AS size, CASE
      WHEN fee = 0 OR (weights = 0 AND others > 0) OR (amortized > 0 AND 2 * amortized >= abs(fee)) THEN 'none'
      WHEN weights > 0 AND amortized = 0
        AND substr(CAST(CAST(last_hour AS TIMESTAMP) + INTERVAL '1' HOUR AS VARCHAR), 1, 7) IN (SELECT billed FROM bill_months)
        AND (substr(CAST(CAST(first_hour AS TIMESTAMP) - INTERVAL '1' HOUR AS VARCHAR), 1, 7) IN (SELECT billed FROM bill_months)
          OR fee_billed >= substr(first_hour, 1, 7)) THEN 'spread'
      ELSE 'lost'
    END AS way
  FROM reservations
),
fee_parts AS (
  SELECT *, CASE WHEN way = 'spread' AND kind = 'usage' THEN whole(size * weight, weights) ELSE 0 END AS part FROM fee_ways
),
fee_ranks AS ( -- usage is the last kind
  SELECT *, size - sum(part) OVER (PARTITION BY fee_group) AS rest, row_number() OVER (PARTITION BY fee_group
    ORDER BY kind DESC, size * weight - part * weights DESC, hour, resource_id, chargedescription, effective) AS place
  FROM fee_parts
),
charges AS (
  SELECT CASE kind WHEN 'fee' THEN 'fee ' || fee_group ELSE coalesce(instance_id, resource_id) END AS resource, hour,
    max(type) AS type,
    CASE
      WHEN substr(hour, 1, 7) <> max(month) THEN '[not splittable]'
      WHEN max(instance_id) IS NOT NULL THEN '[no telemetry]'
      WHEN max(coalesce(reservation, commitmentdiscountid)) IS NOT NULL THEN '[reserved, unused]'
      ELSE '[not splittable]'
    END AS owner,
    max(CASE WHEN commitmentdiscountid IS NULL AND fee_billed IS NULL THEN 'unknown' ELSE 'committed' END) AS unused_leaf,
    sum(CASE kind WHEN 'usage' THEN hours ELSE 0 END) AS hours,
    sum(CASE WHEN kind IN ('usage', 'hyperpod') THEN 1 ELSE 0 END) AS usages,
    sum(CASE WHEN kind IN ('fee', 'hyperpod') THEN 0 ELSE units END + CASE WHEN kind <> 'usage' OR way <> 'spread' THEN 0
      ELSE (part + CASE WHEN place <= rest THEN 1 ELSE 0 END) * CASE WHEN fee < 0 THEN -1 ELSE 1 END END) AS cost,
    CASE
      WHEN max(is_daily) = 1 THEN 'export not hourly'
      WHEN max(kind) = 'hyperpod' THEN 'rows of HyperPod'
      WHEN max(kind) = 'fee' AND max(way) = 'lost' THEN 'fees not attributed'
      WHEN max(is_copy) = 1 OR (max(instance_id) IS NOT NULL AND sum(CASE kind WHEN 'usage' THEN hours ELSE 0 END) > 1.01)
        THEN 'instance-hours billed twice'
      WHEN max(CASE WHEN kind = 'usage' AND reservation IS NOT NULL AND fee_billed IS NULL AND units = 0 AND weight > 0
        THEN 1 END) = 1 THEN 'reserved hours without a fee'
    END AS problem,
    sum(units) AS usd
  FROM fee_ranks CROSS JOIN asked
  WHERE (billed = month AND kind <> 'other') OR kind = 'fee'
  GROUP BY 1, 2
),

-- The ledger from the day before the month on, which shows whether it began earlier. Then the billed and the recorded
-- part of each instance-hour, and the hours of the month.
ledger_rows AS (
  SELECT "date" || ' ' || "hour" AS hour, instanceid AS resource, clustername AS cluster, owner, max(team) AS team,
    max(instancetype) AS type, max(executions) AS executions, max(listcost) AS list_cost, max(overlapminutes) AS overlap,
    CAST(max(allocatedcoreminutes) * 1000000 AS DECIMAL(18, 0)) AS allocated,
    CAST(coalesce(max(busycoreminutes), 0) * 1000000 AS DECIMAL(18, 0)) AS busy,
    CAST(coalesce(max(usedcoreminutes), 0) * 1000000 AS DECIMAL(18, 0)) AS used,
    CAST(CASE owner WHEN '[unknown]' THEN NULL ELSE max(idlecoreminutes) END * 1000000 AS DECIMAL(18, 0)) AS idle,
    CAST(coalesce(max(avoidablecoreminutes), 0) * 1000000 AS DECIMAL(18, 0)) AS avoidable,
    CAST(coalesce(max(committedcoreminutes), 0) * 1000000 AS DECIMAL(18, 0)) AS committed
  FROM "rows" WHERE "date" BETWEEN substr(CAST(CAST(CAST(? AS VARCHAR) || '-01' AS DATE) - INTERVAL '1' DAY AS VARCHAR), 1, 10)
    AND CAST(? AS VARCHAR) || '-31'
  GROUP BY "date", "hour", instanceid, clustername, owner
),
ledger_start AS (SELECT coalesce(min(hour), '') AS first_hour FROM ledger_rows),
ledger AS (SELECT * FROM ledger_rows WHERE hour >= (SELECT month FROM asked)),
ledger_hours AS (
  SELECT hour, resource, CASE WHEN min(cluster) = max(cluster) THEN min(cluster) END AS cluster, sum(allocated) AS told,
    max(overlap) AS overlap, CASE WHEN min(cluster) < max(cluster) THEN 1 ELSE 0 END AS is_moved,
    max(CASE WHEN owner = '[missing]' THEN 1 ELSE 0 END) AS is_missing,
    sum(CASE WHEN owner = '[unknown]' THEN 0 ELSE allocated END) AS seen,
    sum(CASE WHEN owner = '[unknown]' THEN 0 ELSE CAST(coalesce(list_cost, 0) * 1000000000 AS DECIMAL(38, 0)) END) * 1000000000 AS list_usd,
    max(type) AS type, sum(CASE owner WHEN '[unknown]' THEN list_cost END) AS unknown_list_cost
  FROM ledger GROUP BY hour, resource
),
charges_and_hours AS (
  SELECT hour, resource, owner, type, unused_leaf, hours, CAST(coalesce(cores, 0) AS DECIMAL(38, 0)) AS cores,
    CAST(most AS DECIMAL(38, 0)) AS most, usages, cost, problem, usd
  FROM charges LEFT JOIN type_cores ON name = type
  UNION ALL
  SELECT substr(CAST(CAST(month || '-01 00:00:00' AS TIMESTAMP) + INTERVAL '1' HOUR * (a.n * 100 + b.n * 10 + c.n)
    AS VARCHAR), 1, 13), 'month', NULL, NULL, NULL, 0, 0, NULL, 0, 0, NULL, 0
  FROM asked CROSS JOIN digits AS a CROSS JOIN digits AS b CROSS JOIN digits AS c
),
instance_hours AS ( -- an instance has the cores of its type, or more if the ledger shows more in an hour
  SELECT coalesce(c.hour, l.hour) AS hour, coalesce(c.resource, l.resource) AS resource, l.cluster,
    CASE WHEN l.hour IS NULL THEN c.owner ELSE '[unknown]' END AS owner, coalesce(seen, 0) AS seen,
    greatest(CAST(coalesce(hours, 0) * greatest(coalesce(cores, 0) * 60000000, coalesce(told, 0)) AS DECIMAL(38, 0))
      - coalesce(seen, 0), 0) AS unseen,
    coalesce(cost, 0) AS amount, coalesce(usages, 0) AS usages, usd, coalesce(list_usd, 0) AS list_usd,
    CASE WHEN l.hour IS NULL THEN 0 ELSE 1 END AS is_reported, is_missing, is_moved,
    coalesce(c.type, l.type) AS type, unknown_list_cost,
    CASE WHEN c.owner = '[reserved, unused]' THEN unused_leaf ELSE 'unknown' END AS unseen_leaf,
    CASE
      WHEN problem = 'export not hourly' THEN problem
      WHEN overlap > 0 THEN 'instance-hours in two clusters'
      WHEN told > most * 62000000 THEN 'more core-minutes than cores'
      ELSE problem
    END AS problem
  FROM charges_and_hours AS c FULL JOIN ledger_hours AS l ON c.hour = l.hour AND c.resource = l.resource
),
month_hours AS (
  SELECT *, sum(usages) OVER h AS hour_usages, sum(list_usd) OVER h AS hour_usd,
    sum(CASE owner WHEN '[no telemetry]' THEN usd ELSE 0 END) OVER h AS unseen_usd,
    CASE WHEN hour < first_hour THEN '[before the ledger]' WHEN max(is_missing) OVER h = 1 OR max(is_reported) OVER h = 0
      THEN '[ledger missing]' ELSE '[no telemetry]' END AS untold
  FROM instance_hours CROSS JOIN ledger_start WINDOW h AS (PARTITION BY hour)
),
-- Lines of owners. The line without an owner in the ledger has the billed part that was not recorded. The columns up to
-- avoidable, committed and shared are running sums: each share of a cost is the difference of two of them, so the shares
-- add up.
ledger_lines AS (
  SELECT hour, resource, cluster, owner, team, allocated, busy, used, executions, list_cost,
    least(avoidable, coalesce(idle, 0), allocated) AS to_avoidable, least(avoidable + committed, coalesce(idle, 0), allocated)
    AS to_committed, least(coalesce(idle, 0), allocated) AS to_shared, CASE WHEN idle IS NULL THEN 'unknown' ELSE 'not idle' END AS leaf
  FROM ledger WHERE owner NOT IN ('[unknown]', '[settled]', '[missing]')
  UNION ALL SELECT hour, resource, NULL, NULL, NULL, 0, 0, 0, NULL, unknown_list_cost, 0, 0, 0, NULL FROM ledger_hours
),
lines AS (
  SELECT i.hour, i.resource, amount, abs(amount) AS size, team, CASE WHEN l.owner IS NULL THEN i.cluster ELSE l.cluster END
    AS cluster, coalesce(l.owner, CASE i.owner WHEN '[no telemetry]' THEN untold ELSE i.owner END) AS owner,
    type, CASE WHEN by_instance AND i.resource LIKE 'i-%' THEN i.resource END AS instance,
    CASE WHEN l.owner IS NULL THEN 1 ELSE 0 END AS found,
    CASE
      WHEN l.owner IS NOT NULL THEN NULL
      WHEN i.resource = 'month' AND substr(i.hour, 1, 7) <> month THEN NULL
      WHEN i.resource = 'month' AND hour_usages = 0 THEN 'hours without any charge'
      WHEN i.resource = 'month' AND untold = '[ledger missing]' THEN 'ledger hours missing'
      WHEN seen > 0 AND usages = 0 THEN 'ledger hours not billed'
      WHEN problem IS NOT NULL THEN problem
      WHEN is_moved = 1 THEN 'moved between clusters'
    END AS problem,
    CASE WHEN i.resource = 'month' AND hour_usages = 0 THEN hour_usd WHEN i.resource = 'month' THEN unseen_usd
      WHEN usages = 0 AND seen > 0 THEN list_usd ELSE usd END AS usd,
    CASE WHEN l.owner IS NULL THEN unseen ELSE allocated END AS minutes, CASE WHEN seen = 0 THEN 1 ELSE seen + unseen END AS weights,
    CASE WHEN l.owner IS NOT NULL THEN allocated WHEN seen = 0 THEN 1 ELSE unseen END AS weight,
    coalesce(busy, 0) AS busy_minutes, coalesce(used, 0) AS used_minutes, executions, list_cost,
    CASE WHEN usages > 0 THEN executions END AS billed_executions, coalesce(to_avoidable, 0) AS to_avoidable,
    coalesce(to_committed, 0) AS to_committed, coalesce(to_shared, 0) AS to_shared, coalesce(leaf, unseen_leaf) AS leaf
  FROM month_hours AS i CROSS JOIN asked LEFT JOIN ledger_lines AS l ON i.hour = l.hour AND i.resource = l.resource
),
parts AS ( -- of lines that have anything
  SELECT *, whole(size * weight, weights) AS part FROM lines
  WHERE problem IS NOT NULL OR minutes > 0 OR (weight > 0 AND size > 0) OR list_cost > 0 OR executions > 0
),
ranks AS (
  SELECT *, size - sum(part) OVER (PARTITION BY hour, resource) AS rest, row_number() OVER (PARTITION BY hour, resource
    ORDER BY size * weight - part * weights DESC, found, owner, cluster) AS place
  FROM parts
),
line_costs AS (
  SELECT *, part + CASE WHEN place <= rest THEN 1 ELSE 0 END AS paid, CASE WHEN amount < 0 THEN -1 ELSE 1 END AS sign,
    greatest(minutes, 1) AS divisor
  FROM ranks
),
line_shares AS (
  SELECT *, CASE to_avoidable WHEN 0 THEN 0 WHEN divisor THEN paid ELSE whole(paid * to_avoidable, divisor) END AS avoidable, CASE to_committed WHEN 0 THEN 0 WHEN divisor THEN paid ELSE whole(paid * to_committed, divisor) END AS up_to_committed,
    CASE to_shared WHEN 0 THEN 0 WHEN divisor THEN paid ELSE whole(paid * to_shared, divisor) END AS up_to_shared
  FROM line_costs
),

-- The cost of each owner in a day. The first rule that matches sets the team. A move is a note next to the rows of owners.
-- An export that is not hourly gives only this problem, even if the month may be incomplete.
owners AS (
  SELECT substr(hour, 1, 10) AS day, cluster, owner, team, type, instance, problem, sum(found) AS found, sum(usd) AS usd,
    sum(minutes) AS minutes, sum(busy_minutes) AS busy_minutes, sum(used_minutes) AS used_minutes,
    sum(to_avoidable) AS avoidable_minutes, sum(to_shared - to_committed) AS shared_minutes,
    sum(to_committed - to_avoidable + CASE leaf WHEN 'committed' THEN minutes ELSE 0 END) AS committed_minutes,
    sum(CASE leaf WHEN 'unknown' THEN minutes - to_shared ELSE 0 END) AS unknown_minutes, sum(executions) AS executions,
    sum(billed_executions) AS billed_executions, sum(list_cost) AS list_cost,
    sum(CASE WHEN list_cost IS NULL THEN minutes ELSE 0 END) AS unpriced_minutes,
    sum(paid * sign) AS cost, sum(CASE WHEN billed_executions IS NULL THEN 0 ELSE paid * sign END) AS executions_cost,
    sum(CASE leaf WHEN 'not idle' THEN (paid - up_to_shared) * sign ELSE 0 END) AS not_idle, sum(avoidable * sign) AS avoidable,
    sum((up_to_shared - up_to_committed) * sign) AS shared,
    sum((up_to_committed - avoidable + CASE leaf WHEN 'committed' THEN paid ELSE 0 END) * sign) AS committed,
    sum(CASE leaf WHEN 'unknown' THEN (paid - up_to_shared) * sign ELSE 0 END) AS unknown,
    row_number() OVER (ORDER BY substr(hour, 1, 10), owner) AS number
  FROM line_shares
  GROUP BY substr(hour, 1, 10), cluster, owner, team, type, instance, problem
),
team_owners AS (
  SELECT o.*, coalesce(t.team, o.team) AS payer_team, coalesce(problem = 'moved between clusters', false) AS is_note,
    count(CASE WHEN problem = 'export not hourly' THEN 1 END) OVER () > 0 AS is_daily,
    count(CASE WHEN problem <> 'moved between clusters' THEN 1 END) OVER () > 0 AND NOT incomplete AS is_incomplete,
    row_number() OVER (PARTITION BY o.number ORDER BY t.number) AS rule_place
  FROM owners AS o CROSS JOIN asked LEFT JOIN teams AS t
    ON coalesce(o.cluster, '') LIKE replace(replace(replace(t.cluster, '%', '\%'), '_', '\_'), '*', '%') ESCAPE '\'
    AND (o.owner = t.owner OR (o.owner NOT IN ('[unallocated]', '[unknown]', '[no telemetry]', '[before the ledger]',
        '[ledger missing]', '[reserved, unused]', '[not splittable]', '[others]', '[not reported]')
      AND o.owner LIKE replace(replace(replace(t.owner, '%', '\%'), '_', '\_'), '*', '%') ESCAPE '\'))
),
refusals AS (
  SELECT *, is_daily OR is_incomplete AS is_refused, NOT (is_daily OR is_incomplete) AND n = 0 AS is_share,
    problem IS NOT NULL AND NOT is_note AND (NOT is_daily OR problem = 'export not hourly') AS is_reason
  FROM team_owners JOIN digits ON n = 0 OR (n = 1 AND is_note) WHERE rule_place = 1
)
SELECT CASE WHEN is_share THEN NULL ELSE problem END AS problem, CASE WHEN is_share THEN payer_team END AS team,
  CASE WHEN is_share THEN owner END AS owner, CASE WHEN is_share THEN cluster END AS cluster, CASE WHEN is_share THEN day END AS day,
  CASE WHEN is_share THEN type END AS instance_type, CASE WHEN is_share THEN instance END AS instance_id,
  CASE WHEN is_share THEN NULL ELSE sum(found) END AS found, sum(CASE WHEN is_share THEN minutes ELSE 0 END) * 0.000001 AS core_minutes,
  sum(CASE WHEN is_share THEN busy_minutes ELSE 0 END) * 0.000001 AS busy_core_minutes,
  sum(CASE WHEN is_share THEN used_minutes ELSE 0 END) * 0.000001 AS used_core_minutes,
  sum(CASE WHEN is_share THEN avoidable_minutes ELSE 0 END) * 0.000001 AS avoidable_core_minutes,
  sum(CASE WHEN is_share THEN shared_minutes ELSE 0 END) * 0.000001 AS shared_core_minutes,
  sum(CASE WHEN is_share THEN committed_minutes ELSE 0 END) * 0.000001 AS committed_core_minutes,
  sum(CASE WHEN is_share THEN unknown_minutes ELSE 0 END) * 0.000001 AS unknown_core_minutes,
  sum(CASE WHEN is_share THEN unpriced_minutes ELSE 0 END) * 0.000001 AS unpriced_core_minutes,
  sum(CASE WHEN is_share THEN executions END) AS executions,
  sum(CASE WHEN is_share THEN billed_executions END) AS billed_executions, sum(CASE WHEN is_share THEN list_cost END) AS list_cost,
  sum(CASE WHEN is_share THEN cost WHEN n = 0 THEN usd ELSE 0 END) * 0.000000000000000001 AS cost,
  sum(CASE WHEN is_share THEN executions_cost ELSE 0 END) * 0.000000000000000001 AS executions_cost,
  sum(CASE WHEN is_share THEN not_idle ELSE 0 END) * 0.000000000000000001 AS not_idle,
  sum(CASE WHEN is_share THEN avoidable ELSE 0 END) * 0.000000000000000001 AS avoidable,
  sum(CASE WHEN is_share THEN shared ELSE 0 END) * 0.000000000000000001 AS shared,
  sum(CASE WHEN is_share THEN committed ELSE 0 END) * 0.000000000000000001 AS committed,
  sum(CASE WHEN is_share THEN unknown ELSE 0 END) * 0.000000000000000001 AS unknown
FROM refusals WHERE CASE WHEN is_refused THEN is_reason AND n = 0 ELSE n = 1 OR minutes > 0 OR cost <> 0 OR list_cost > 0 OR executions > 0 END
GROUP BY 1, 2, 3, 4, 5, 6, 7, is_share
ORDER BY day, team, owner, cluster, instance_type, instance_id, problem
