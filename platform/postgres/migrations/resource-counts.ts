import { statements } from "./first-migrations.ts";

/**
 * Number of visible resources per kind and namespace, maintained by triggers: each page of a list includes the total, and counting 100,000
 * takes longer than reading a page. Writers need no rights to the counts, so earlier versions maintain them too.
 */
export const countResources = statements`
  create table resource_counts (
    kind text not null,
    namespace text not null,
    n bigint not null,
    primary key (kind, namespace)
  ) with (fillfactor = 50);

  create function count_resources() returns trigger language plpgsql security definer set search_path from current as $$
  begin
    -- In order, so that two writers never wait for each other.
    insert into resource_counts (kind, namespace, n)
      select kind, namespace, case when tg_op = 'INSERT' then count(*) else -count(*) end
      from changed where ended_at is null group by kind, namespace order by kind, namespace
    on conflict (kind, namespace) do update set n = resource_counts.n + excluded.n;
    return null;
  end $$;
  create function count_ended_resource() returns trigger language plpgsql security definer set search_path from current as $$
  begin
    insert into resource_counts (kind, namespace, n)
      values (new.kind, new.namespace, case when new.ended_at is null then 1 else -1 end)
    on conflict (kind, namespace) do update set n = resource_counts.n + excluded.n;
    return null;
  end $$;

  create trigger resources_begin after insert on resources
    referencing new table as changed for each statement execute function count_resources();
  create trigger resources_vanish after delete on resources
    referencing old table as changed for each statement execute function count_resources();
  create trigger resources_end after update on resources
    for each row when ((old.ended_at is null) <> (new.ended_at is null)) execute function count_ended_resource();

  insert into resource_counts select kind, namespace, count(*) from resources where ended_at is null group by kind, namespace;
`;
