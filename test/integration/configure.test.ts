import { describe, expect, test } from "vitest";
import { accountKind } from "../../crds/account.ts";
import { componentKind } from "../../crds/component.ts";
import { labels } from "../../crds/resource.ts";
import { defaultSettings, sourceKind } from "../../crds/source.ts";
import type { ConfigureCall, ConfiguredOptions } from "../../domain/component/configure.ts";
import { encodePack, type Invocation } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { defaultPool, invokeSubject } from "../../domain/subjects.ts";
import { entryMs, failure, namespace, options, withConfigureWorld } from "./configure-world.ts";
import { until } from "../support/until.ts";

const world = withConfigureWorld();
const { store, save, ask, wakeRunner } = world;

const boards = `export default { name: "c", props: { token: { type: "string", secret: true }, team: "string", board: { type: "string",
  async options({ prevContext }) { if (this.team === "none") throw new Error("no such team"); return { options: [this.token + "/" + this.team], context: { after: prevContext.after ?? 0 } }; } } }, run() {} }`;

describe("a call", () => {
  test("passes the given values to the component, and returns its result", async () => {
    await wakeRunner();
    const component = await save(boards);
    const props = { token: "s3cret", team: { __lv: { label: "Team", value: "t1" } } };
    expect(await ask(component, { ...options("board"), prevContext: { after: 5 } } as ConfigureCall, { props })).toEqual({
      outcome: "options",
      options: ["s3cret/t1"],
      context: { after: 5 },
      truncated: false,
    });
  });

  test("uses the props and secrets of a source for values that are not given", async () => {
    await wakeRunner();
    const component = await save(boards);
    const secrets = { token: { secretKeyRef: { name: "stored", key: "token" } } };
    const spec = {
      ...defaultSettings,
      componentRef: { name: component },
      props: { team: "own" },
      secrets,
    };
    await store.create(sourceKind, { namespace, name: "boards", spec });
    const first = async (more: object) =>
      ((await ask(component, options("board"), { source: "boards", ...more })) as ConfiguredOptions).options[0];
    expect(await first({})).toBe("text of stored/own");
    expect(await first({ props: { team: "other" } })).toBe("text of stored/other");
    expect(await first({ props: { team: "other", token: "new" } })).toBe("new/other");
  });

  test("masks secrets in an error that the component throws", async () => {
    await wakeRunner();
    const component = await save(
      `export default { name: "c", props: { token: { type: "string", secret: true }, team: "string", board: { type: "string",
      options() { throw new Error("GET https://host/?key=" + this.token + "&team=" + this.team); } } }, run() {} }`,
    );
    const given = ask(component, options("board"), { props: { token: "given-token", team: "t1" } });
    await expect(given).rejects.toThrow(/GET https:\/\/host\/\?key=\*\*\*&team=t1$/);
    await expect(given).rejects.not.toThrow("given-token");
  });

  test("contains the account of an app prop if the account belongs to the owner", async () => {
    await wakeRunner();
    const component = await save(
      `const app = { type: "app", app: "x", propDefinitions: { board: { type: "string", options() { return [this.$auth.api_key]; } } } }; export default { name: "c", props: { app, board: { propDefinition: [app, "board"] } }, run() {} }`,
    );
    for (const [id, where] of [
      ["apn_own", namespace],
      ["apn_others", "hw-u-others"],
    ] as const) {
      const spec = { app: "x", credentials: { api_key: { secretKeyRef: { name: id, key: "api_key" } } } };
      await store.create(accountKind, { namespace: where, name: id.replace("_", "-"), labels: { [labels.id]: id }, spec });
    }
    const choosing = (authProvisionId: string) => ask(component, options("board"), { props: { app: { authProvisionId } } });
    expect(await choosing("apn_own")).toMatchObject({ options: ["text of apn_own"] });
    expect(await failure(choosing("apn_others"))).toEqual([422, "not_configurable", expect.stringContaining("apn_others")]);
  });

  test("returns additional props, and passes them to isolates", async () => {
    await wakeRunner();
    const component = await save(
      `export default { name: "c", props: { kind: "string" }, additionalProps() { return this.kind === "db" ? { store: "$.service.db" } : {}; }, run() {} }`,
    );
    expect(await ask(component, { kind: "props" }, { props: { kind: "db" } })).toEqual({
      outcome: "props",
      props: [
        { name: "kind", type: "string" },
        { name: "store", type: "$.service.db" },
      ],
    });
  });

  test("waits in the stream for a runner that starts, without the values of props", async () => {
    const component = await save(boards);
    const { streams, direct } = world.connection.manager;
    const lastSequence = async () => (await streams.info("INVOCATIONS")).state.last_seq;
    const before = await lastSequence();
    const answer = ask(component, options("board"), { props: { token: "s3cret-token", team: "team-one" } });
    await until(async () => (await lastSequence()) > before, "the call is in the stream");
    const seq = await lastSequence();
    const text = (await direct.getMessage("INVOCATIONS", { seq }))?.string() ?? "";
    expect(text).toContain(`"trigger":"configure"`);
    expect(text).not.toMatch(/s3cret-token|team-one/);
    await wakeRunner();
    expect(await answer).toMatchObject({ options: ["s3cret-token/team-one"] });
  });

  test("is dropped after its deadline, and later calls are answered", async () => {
    const component = await save(boards);
    const { build } = (await store.get(componentKind, namespace, component)).status;
    const heard: unknown[] = [];
    const { subject, end } = world.answers.listen("r_late", (late) => heard.push(late));
    const late: Invocation = {
      source: "r_late",
      trigger: "configure",
      answerTo: subject,
      configure: {
        call: { kind: "props" },
        owner: "u_tester",
        component: "sc_1",
        bundle: build?.bundle ?? "",
        needsNode: false,
        props: "",
        endpoint: null,
        deadline: Date.now() - 1,
      },
    };
    await world.connection.publisher.publish(
      invokeSubject(defaultPool, partitionOf("r_late"), "r_late"),
      encodePack([JSON.stringify(late)]),
    );
    await wakeRunner();
    expect(await ask(component, options("board"), { props: { token: "a", team: "b" } })).toMatchObject({ options: ["a/b"] });
    await until(
      async () => (await world.connection.manager.streams.info("INVOCATIONS")).state.messages === 0,
      "nothing is left in the stream",
    );
    end();
    expect(heard).toEqual([]);
  });

  test("needs no runner for static options, nor for props of a component without additional props", async () => {
    const component = await save(`export default { name: "c", props: { kind: { type: "string", options: ["a", "b"] } }, run() {} }`);
    expect(await ask(component, options("kind"))).toMatchObject({ options: ["a", "b"] });
    expect(await ask(component, { kind: "props" })).toMatchObject({ props: [{ name: "kind" }] });
  });
});

describe("a call that fails says why:", () => {
  test("the component throws, or a limit ends it", async () => {
    await wakeRunner();
    const component = await save(boards);
    const props = { token: "a", team: "none" };
    expect(await failure(ask(component, options("board"), { props }))).toEqual([
      422,
      "user_code",
      "options of prop 'board' threw Error: no such team",
    ]);
    const endless = await save(`export default { name: "c", props: { x: { type: "string", options() { for (;;); } } }, run() {} }`);
    expect(await failure(ask(endless, options("x")))).toEqual([422, "cpu_limit", expect.stringContaining(`${entryMs} ms`)]);
  });

  test.each<[string, ConfigureCall, readonly unknown[]]>([
    ["there is no such prop", options("nope"), [422, "unknown_prop", "prop 'nope' is unknown: the component has token, team, board"]],
    ["the prop has no options", options("team"), [422, "no_options", "prop 'team' has no options: enter its value"]],
  ])("%s", async (_, call, expected) => {
    expect(await failure(ask(await save(boards), call))).toEqual(expected);
  });

  test("the component is unknown, not built, or cannot be built", async () => {
    expect((await failure(ask("nowhere", options("x"))))[0]).toBe(404);
    const created = await store.create(componentKind, { namespace, name: "unbuilt", spec: { code: "x" } });
    expect(await failure(ask("unbuilt", options("x")))).toEqual([503, "component_not_built", expect.any(String)]);
    const stalled = {
      type: "Stalled",
      status: "True",
      reason: "BuildFailed",
      message: "SyntaxError",
      lastTransitionTime: "",
      observedGeneration: 1,
    } as const;
    await store.updateStatus(componentKind, { ...created, status: { observedGeneration: 1, conditions: [stalled] } });
    expect(await failure(ask("unbuilt", options("x")))).toEqual([422, "component_failed", "the component cannot be built: SyntaxError"]);
  });

  test("a secret of the source is missing", async () => {
    const component = await save(boards);
    const secrets = { token: { secretKeyRef: { name: "missing", key: "token" } } };
    const spec = { ...defaultSettings, componentRef: { name: component }, secrets };
    await store.create(sourceKind, { namespace, name: "without-secret", spec });
    const asked = ask(component, options("board"), { source: "without-secret" });
    expect(await failure(asked)).toEqual([422, "not_configurable", "Secret missing does not exist"]);
  });

  test("more calls are in progress than a namespace may have", async () => {
    const component = await save(boards);
    const many = Array.from({ length: 12 }, () => ask(component, options("board"), { props: { token: "a", team: "b" } }));
    const refused = await Promise.race(many.map((one) => failure(one)));
    expect(refused).toEqual([429, "too_many_calls", expect.stringContaining("8 calls")]);
    await wakeRunner();
    const outcomes = await Promise.allSettled(many);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(8);
  });

  test("no operator is running", async () => {
    await world.stopServing();
    expect(await failure(ask("any", options("x")))).toEqual([503, "no_operator", expect.any(String)]);
  });
});
