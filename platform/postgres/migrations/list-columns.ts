import { sql } from "kysely";
import { transaction, type Migration } from "./step.ts";

const rowsPerBatch = 500;

/**
 * What lists of sources, webhooks and workflows are filtered and sorted by. A trigger keeps it, also for writers of an earlier version. An update
 * parses spec and status only if they have changed, since a workflow's spec may be large. The name and password in a URL are left out: cursors show
 * what a list is sorted by.
 *
 * | column | holds |
 * |---|---|
 * | `list_facts` | name, URL, whether it is active, state, types of triggers |
 * | `list_name` | the first 200 characters of the name or URL, in lower case |
 * | `list_updated_ms` | when it was last changed, epoch milliseconds |
 */
export const listColumns: Migration = {
  name: "m0042-sorted-lists",
  steps: [
    transaction(`
      alter table resources
        add column list_facts jsonb,
        add column list_name text collate "C" not null default '',
        add column list_updated_ms bigint not null default 0;

      -- Its types are not checked: a stored resource may not match its schema.
      create function list_facts_of_spec(kind text, spec jsonb) returns jsonb language sql immutable as $$
        select jsonb_build_object('name', spec ->> 'name', 'url', case kind when 'Webhook' then regexp_replace(spec ->> 'url', '^([a-z]+://)[^/?#]*@', '\\1', 'i') end,
          'active', spec ->> 'active', 'triggers', (
          select jsonb_agg(distinct case type when 'sourceRef' then 'source' else type end)
          from jsonb_array_elements(case jsonb_typeof(spec -> 'triggers') when 'array' then spec -> 'triggers' else '[]' end) trigger,
            jsonb_object_keys(case jsonb_typeof(trigger) when 'object' then trigger else '{}' end) type))
      $$;
      create function list_facts_of_status(status jsonb) returns jsonb language sql immutable as $$
        select jsonb_build_object('runs', jsonb_typeof(status -> 'running') = 'object', 'runningName', status #>> '{running,name}', 'runningActive', coalesce(status ->> 'active', status #>> '{running,active}'),
          'state', status ->> 'state',
          'updatedMs', case jsonb_typeof(status -> 'updatedAt') when 'number' then round(least(greatest((status ->> 'updatedAt')::numeric, 0), 1e15)) end)
      $$;

      create function keep_list_columns() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' or old.list_facts is null or new.spec::text <> old.spec::text then
          new.list_facts := coalesce(new.list_facts, '{}') || list_facts_of_spec(new.kind, readable_json(new.spec));
        end if;
        if tg_op = 'INSERT' or old.list_facts is null or new.status::text <> old.status::text then
          new.list_facts := coalesce(new.list_facts, '{}') || list_facts_of_status(readable_json(new.status));
        end if;
        new.list_name := left(lower(coalesce(
          case when (new.list_facts ->> 'runs')::boolean then new.list_facts ->> 'runningName'
            else coalesce(new.list_facts ->> 'name', new.list_facts ->> 'url') end, new.name)), 200);
        new.list_updated_ms := greatest(
          coalesce((new.list_facts ->> 'updatedMs')::bigint, 0), floor(extract(epoch from new.created_at) * 1000)::bigint);
        return new;
      end $$;
      create trigger resources_list_columns before insert or update of spec, status on resources
        for each row when (new.kind in ('Source', 'Webhook', 'Workflow')) execute function keep_list_columns();`),
    // Of rows that are not filled in yet: each batch finds the next ones.
    {
      kind: "index",
      name: "resources_without_list_facts",
      on: "resources (kind, namespace, name) where kind in ('Source', 'Webhook', 'Workflow') and list_facts is null",
    },
    {
      kind: "batches",
      run: async (db) => {
        const { numAffectedRows } = await sql`
          update resources set spec = spec where (name, namespace, kind) in (
            select name, namespace, kind from resources
            where kind in ('Source', 'Webhook', 'Workflow') and list_facts is null
            order by kind, namespace, name limit ${rowsPerBatch} for update
          )`.execute(db);
        return (numAffectedRows ?? 0n) > 0n;
      },
    },
    { kind: "index", name: "resources_by_list_name", on: "resources (kind, namespace, list_name, name) where list_facts is not null" },
    { kind: "index", name: "resources_by_update", on: "resources (kind, namespace, list_updated_ms, name) where list_facts is not null" },
  ],
};
