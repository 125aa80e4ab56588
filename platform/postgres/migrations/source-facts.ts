import { statements } from "./first-migrations.ts";

/**
 * Maintains what lists of sources filter by. Triggers, so that writers of every version do. `spec` and `status` are `json`, which SQL
 * cannot read with U+0000 or an unpaired surrogate: such characters become U+FFFD first.
 */
export const keepSourceFacts = statements`
  alter table resources add column source_facts jsonb;

  create function readable_json(given json) returns jsonb language sql immutable as $$
    select regexp_replace(given::text, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::jsonb
  $$;

  create function keep_source_spec_facts() returns trigger language plpgsql as $$
  declare spec jsonb := readable_json(new.spec);
  begin
    new.source_facts := coalesce(new.source_facts, '{}') || jsonb_build_object(
      'name', spec -> 'name', 'active', spec -> 'active', 'componentRef', spec #> '{componentRef,name}');
    return new;
  end $$;

  create function keep_source_status_facts() returns trigger language plpgsql as $$
  declare
    status jsonb := readable_json(new.status);
    ready jsonb := jsonb_path_query_first(status, '$.conditions[*] ? (@.type == "Ready")');
  begin
    new.source_facts := coalesce(new.source_facts, '{}') || jsonb_build_object(
      'component', status -> 'component', 'deployment', status -> 'deployment',
      'ready', ready -> 'status', 'reason', ready -> 'reason', 'observedGeneration', ready -> 'observedGeneration',
      'running', case when jsonb_typeof(status -> 'running') = 'object' then jsonb_build_object(
        'name', status #> '{running,name}', 'active', status #> '{running,active}', 'componentRef', status #> '{running,componentRef,name}') end);
    return new;
  end $$;

  create trigger resources_source_spec before insert or update of spec on resources
    for each row when (new.kind = 'Source') execute function keep_source_spec_facts();
  create trigger resources_source_status before insert or update of status on resources
    for each row when (new.kind = 'Source') execute function keep_source_status_facts();

  update resources set spec = spec, status = status where kind = 'Source' and ended_at is null;
`;
