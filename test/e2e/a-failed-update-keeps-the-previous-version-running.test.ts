import { describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";

interface Source {
  readonly id: string;
  readonly component_id: string;
  readonly active: boolean;
  readonly name: string;
  readonly name_slug: string;
  readonly updated_at: number;
  readonly configured_props: {
    readonly label?: string;
    readonly timer?: object;
    readonly http?: { readonly endpoint_url: string };
  };
}

/** Ticks, responds to requests, and registers with a service that refuses the `label` "refused". */
const code = (version: number, more = "") => `export default {
  name: "Registered",
  version: "0.0.${version}",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } },
    http: { type: "$.interface.http", customResponse: true },
    db: "$.service.db",
    label: { type: "string", default: "good" },
  },
  hooks: {
    async activate() {
      this.db.set("activated", (this.db.get("activated") ?? 0) + 1);
      if (this.label === "refused") throw new Error("the service says no");
      ${more}
    },
    async deactivate() {},
  },
  async run(event) {
    const result = { version: ${version}, label: this.label, activated: this.db.get("activated") };
    if (event.method) this.http.respond({ status: 200, body: result });
    else this.$emit(result);
  },
};`;

const headwater = withSystem();

const put = (id: string, body: object) => headwater.call<{ data: Source; details?: { message: string } }>("PUT", `/sources/${id}`, body);
const get = async (id: string): Promise<Source> => (await headwater.call<{ data: Source }>("GET", `/sources/${id}`)).body.data;
const asked = async (source: Source): Promise<unknown> => (await fetch(source.configured_props.http?.endpoint_url ?? "")).json();

async function ticksOf(id: string): Promise<number> {
  const { body } = await headwater.call<{ page_info: { total_count: number } }>("GET", `/sources/${id}/event_summaries?limit=1`);
  return body.page_info.total_count;
}

describe("a PUT whose activate throws", () => {
  it("returns the observations, and the previous version keeps ticking and responding, as GET shows", async () => {
    const { data: source } = (await headwater.call<{ data: Source }>("POST", "/sources", { component_code: code(1), name: "Kept" })).body;
    expect(await asked(source)).toEqual({ version: 1, label: "good", activated: 1 });

    const failed = await put(source.id, { component_code: code(2), name: "Other", configured_props: { label: "refused" } });
    expect(failed.status, failed.text).toBe(422);
    expect(failed.body).toMatchObject({
      error: "observation error",
      code: "observation_error",
      observations: [{ k: "error", h: "activate", err: { name: "Error", message: "the service says no" } }],
      details: { reason: "UpdateFailed" },
    });
    expect(failed.body.details?.message).toMatch(
      /^the update failed: hook activate failed: Error: the service says no; version d_\w+ of \S+Z is still running; correct it and send the update again/,
    );

    expect(await get(source.id)).toMatchObject({
      component_id: source.component_id,
      name: "Kept",
      name_slug: source.name_slug,
      active: true,
      updated_at: source.updated_at,
      configured_props: { label: "good" },
    });
    // Three activations: the first version, the failed update, and the return to the first version.
    expect(await asked(source)).toEqual({ version: 1, label: "good", activated: 3 });
    const ticks = await ticksOf(source.id);
    await until(async () => (await ticksOf(source.id)) > ticks, "it keeps ticking");
    const run = await headwater.call<{ data: { status: string } }>("POST", `/sources/${source.id}/runs`, { event: {} });
    expect([run.status, run.body.data.status]).toEqual([200, "succeeded"]);

    // A PUT without code changes the running version, not the failed one.
    const renamed = await put(source.id, { name: "Renamed" });
    expect(renamed.status, renamed.text).toBe(200);
    expect(renamed.body.data).toMatchObject({ component_id: source.component_id, name: "Renamed", configured_props: { label: "good" } });

    const updated = await put(source.id, { component_code: code(2), configured_props: { label: "better" } });
    expect(updated.status, updated.text).toBe(200);
    expect(await asked(source)).toMatchObject({ version: 2, label: "better" });
  });

  it("fails again when it is sent again, and succeeds once the service accepts", async () => {
    const { data: source } = (await headwater.call<{ data: Source }>("POST", "/sources", { component_code: code(3) })).body;
    // Activation 1 is the creation, 2 the failed update, 3 the return to the first version; the fourth succeeds.
    const body = { component_code: code(4, 'if (this.db.get("activated") < 4) throw new Error("not yet");') };
    expect((await put(source.id, body)).status).toBe(422);
    const again = await put(source.id, body);
    expect(again.status, again.text).toBe(200);
    expect(await asked(source)).toEqual({ version: 4, label: "good", activated: 4 });
  });

  it("keeps a paused source paused", async () => {
    const { data: source } = (await headwater.call<{ data: Source }>("POST", "/sources", { component_code: code(5), active: false })).body;
    expect((await put(source.id, { configured_props: { label: "refused" }, active: true })).status).toBe(422);
    expect(await get(source.id)).toMatchObject({ active: false, configured_props: { label: "good" } });
    expect((await fetch(source.configured_props.http?.endpoint_url ?? "")).status).toBe(404);
    expect((await put(source.id, { active: true })).status).toBe(200);
    expect(await asked(source)).toMatchObject({ version: 5, label: "good" });
  });
});
