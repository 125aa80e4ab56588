import { createHmac } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { decodePack, type RunSummary } from "../../domain/invocation/invocation.ts";
import { Unavailable } from "../../domain/errors.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import { waitUntil } from "../../domain/retry.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import { resumePath, signedText, testSuspension, type ResumeOutcome, type ResumeToken } from "../../domain/workflow/resume-request.ts";
import type { IngressConfig, IngressPorts } from "../../ingress/ports.ts";
import { eventOf, withIngress, type ServedIngress } from "./served-ingress.ts";

const resumeKey = "a key of the workflow";
const inHour = Date.now() + 3_600_000;
const token: ResumeToken = { run: "r_abc", suspension: 2, action: "resume", expires: inHour };
const pathOf = (given: Partial<ResumeToken> = {}, key = resumeKey): string => {
  const full = { ...token, ...given };
  return resumePath(full, createHmac("sha256", key).update(signedText(full)).digest("base64url"));
};

const workflow = (changes: Partial<Endpoint> = {}, hasHttpTrigger = true): Endpoint => ({
  source: "p_1",
  pool: "default",
  owner: "u_1",
  customResponse: false,
  active: true,
  workflow: { hasHttpTrigger, resumeKey },
  ...changes,
});
const endpoints = new Map<string, Endpoint>([
  ["plain", workflow()],
  ["custom", workflow({ customResponse: true })],
  ["off", workflow({ active: false })],
  ["notrigger", workflow({}, false)],
  ["other", workflow({ source: "p_2", workflow: { hasHttpTrigger: true, resumeKey: "another key" } })],
  ["source", { source: "dc_1", pool: "default", owner: "u_1", customResponse: false, active: true }],
]);

const start = withIngress();
let served: ServedIngress;
async function serve(config: Partial<IngressConfig> = {}, ports: Partial<IngressPorts> = {}): Promise<ServedIngress> {
  const directory = { peek: (key: string) => endpoints.get(key) ?? null, find: async (key: string) => endpoints.get(key) };
  return start(config, { endpoints: directory, ...ports });
}
/** Serves an ingress whose runner answers each request to a resume URL with this outcome. */
async function serveResuming(outcome: ResumeOutcome): Promise<ServedIngress> {
  const publish = async (_subject: string, pack: string): Promise<void> => {
    const invocations = decodePack(pack);
    started.stored.push(...invocations);
    for (const { resume } of invocations) started.answer(resume?.answerTo?.replace("answers.", "") ?? "", { kind: "resume", outcome });
  };
  const started = await serve({}, { invocations: { publish } });
  return started;
}
beforeEach(async () => {
  served = await serveResuming({ outcome: "done" });
});
const ask = async (path: string, init: RequestInit = {}): Promise<readonly [status: number, body: unknown]> => {
  const response = await fetch(served.url(path), init);
  const text = await response.text();
  return [response.status, text === "" ? "" : JSON.parse(text)];
};

describe("a request to the HTTP trigger of a workflow", () => {
  it("starts a run: 200 once the invocation is stored", async () => {
    expect(await ask("/plain/a?b=c", { method: "POST", body: "text" })).toEqual([200, { success: true }]);
    const [invocation] = served.stored;
    expect(invocation).toMatchObject({ source: "p_1", trigger: "http" });
    expect(eventOf(invocation)).toMatchObject({ method: "POST", path: "/a", query: { b: "c" }, bodyRaw: "text" });
  });

  it.each(["off", "notrigger", "deleted"])(
    "is answered 404 if the workflow is inactive, has no HTTP trigger or is deleted: %s",
    async (key) => {
      expect(await ask(`/${key}`)).toEqual([404, expect.objectContaining({ code: "endpoint_not_found" })]);
      expect(served.stored).toEqual([]);
    },
  );

  it("starts a run if its path only resembles a resume URL", async () => {
    for (const path of ["/plain/runs/r_abc", "/plain/runs", `/plain/runs/r_abc/1/resume/${inHour}/short`])
      expect((await ask(path))[0]).toBe(200);
    expect(served.stored.map(({ trigger }) => trigger)).toEqual(["http", "http", "http"]);
  });
});

describe("a request that waits for `$.respond`", () => {
  const ended = (error: RunSummary["error"]): RunSummary => ({ id: "r_0", error }) as never; // All that is read of it.
  const untilStored = async (): Promise<void> => expect(await waitUntil(() => served.stored.length === 1, 120_000)).toBe(true);

  it("is answered with the response of the run", async () => {
    const response = ask("/custom");
    await untilStored();
    served.answer("r_0", { kind: "response", response: { status: 201, headers: {}, body: '{"made":1}' } });
    expect(await response).toEqual([201, { made: 1 }]);
  });

  it("is answered 200 with an empty object if the run ended or was suspended without a response", async () => {
    const response = ask("/custom");
    await untilStored();
    served.answer("r_0", { kind: "run", run: ended(null) });
    expect(await response).toEqual([200, {}]);
  });

  it("is answered 500 without the error's text if the run failed without a response", async () => {
    const response = ask("/custom");
    await untilStored();
    served.answer("r_0", { kind: "run", run: ended({ name: "Error", message: "key=sk_live_1" }) });
    expect(await response).toEqual([500, { code: "run_failed", error: "the run failed without a response" }]);
  });

  it("is answered 504 if the run takes too long", async () => {
    served = await serve({ answerTimeoutMs: 50 });
    expect(await ask("/custom")).toEqual([504, expect.objectContaining({ code: "response_timeout" })]);
  });
});

describe("a resume URL", () => {
  it.each(["GET", "POST", "PUT", "DELETE"])("resumes the run with the request as its event: %s", async (method) => {
    const body = method === "GET" ? {} : { body: '{"approved":true}' };
    expect(await ask(`/plain${pathOf()}?by=ada`, { method, ...body })).toEqual([200, { success: true }]);
    expect(served.stored).toHaveLength(1);
    expect(served.stored[0]).toMatchObject({ source: "p_1", trigger: "resume", resume: { run: "r_abc", suspension: 2, action: "resume" } });
    expect(eventOf(served.stored[0])).toMatchObject({ method, query: { by: "ada" } });
  });

  it("is resumed with the body itself, also if the request asks to have it stored", async () => {
    expect((await ask(`/plain${pathOf()}?pipedream_upload_body=1`, { method: "POST", body: "text" }))[0]).toBe(200);
    expect(eventOf(served.stored[0])).toMatchObject({ bodyRaw: "text" });
  });

  it("cancels the run if its action is cancel", async () => {
    expect((await ask(`/plain${pathOf({ action: "cancel" })}`))[0]).toBe(200);
    expect(served.stored[0]?.resume).toEqual({ run: "r_abc", suspension: 2, action: "cancel", answerTo: "answers.r_0" });
  });

  it("is answered 410 with what happened if the runner says that it has no effect", async () => {
    const message = "run r_abc was resumed at 2026-11-28T10:00:00.000Z by a request to its resume URL: it is running";
    served = await serveResuming({ outcome: "gone", code: "resume_url_used", message });
    expect(await ask(`/plain${pathOf()}`, { method: "POST" })).toEqual([410, { code: "resume_url_used", error: message }]);
  });

  it("is answered 202 if no runner decides in time, and the request stays stored", async () => {
    served = await serve({ resumeTimeoutMs: 20 });
    expect(await ask(`/plain${pathOf()}`)).toEqual([202, { success: true }]);
    expect(served.stored).toHaveLength(1);
  });

  it("of a test is answered 410, and stores nothing", async () => {
    const [status, body] = await ask(`/plain${pathOf({ suspension: testSuspension })}`);
    expect([status, body]).toEqual([410, expect.objectContaining({ code: "resume_url_of_test" })]);
    expect(served.stored).toEqual([]);
  });

  it("does not wait for `$.respond`, and works while the workflow is not active or has no HTTP trigger", async () => {
    for (const key of ["custom", "off", "notrigger"]) expect(await ask(`/${key}${pathOf()}`)).toEqual([200, { success: true }]);
    expect(served.stored.map(({ trigger }) => trigger)).toEqual(["resume", "resume", "resume"]);
  });

  it("is only checked by HEAD and OPTIONS", async () => {
    expect((await ask(`/plain${pathOf()}`, { method: "HEAD" }))[0]).toBe(200);
    expect((await ask(`/plain${pathOf()}`, { method: "OPTIONS" }))[0]).toBe(204);
    expect(served.stored).toEqual([]);
  });

  it.each([
    ["another key", pathOf({}, "a guessed key")],
    ["another run", pathOf().replace("r_abc", "r_abd")],
    ["another suspension", pathOf().replace("/2/", "/3/")],
    ["another action", pathOf().replace("resume", "cancel")],
    ["a later expiry", pathOf().replace(String(inHour), String(inHour + 1))],
  ])("is answered 404 if it is forged: %s", async (_change, path) => {
    const [status, body] = await ask(`/plain${path}`);
    expect([status, body]).toEqual([404, expect.objectContaining({ code: "resume_url_invalid" })]);
    expect(served.stored).toEqual([]);
  });

  it("of one workflow is answered 404 at the endpoint of another, and 404 if the workflow is deleted", async () => {
    expect((await ask(`/other${pathOf()}`))[0]).toBe(404);
    expect((await ask(`/deleted${pathOf()}`))[0]).toBe(404);
    expect(served.stored).toEqual([]);
  });

  it("is an ordinary request at the endpoint of a source", async () => {
    expect((await ask(`/source${pathOf()}`))[0]).toBe(200);
    expect(served.stored[0]?.trigger).toBe("http");
  });

  it("is answered 410 with the time if it has expired, and 404 if it is also forged", async () => {
    const expires = Date.now() - 1_000;
    expect(await ask(`/plain${pathOf({ expires })}`)).toEqual([
      410,
      { code: "resume_url_expired", error: `this URL expired at ${new Date(expires).toISOString()}: the run no longer waits for it` },
    ]);
    expect((await ask(`/plain${pathOf({ expires }, "a guessed key")}`))[0]).toBe(404);
    expect(served.stored).toEqual([]);
  });

  it("is answered 429 while the backlog of the workflow is full", async () => {
    const admission = new AdmissionGate(defaultBacklogLimits);
    admission.update("default", "r_1", { partitions: [], sources: ["p_1"], owners: [] }, performance.now());
    served = await serve({}, { admission });
    expect((await ask(`/plain${pathOf()}`))[0]).toBe(429);
  });

  it("is answered 503 if the invocation cannot be stored", async () => {
    served = await serve({}, { invocations: { publish: () => Promise.reject(new Unavailable("NATS is away")) } });
    expect((await ask(`/plain${pathOf()}`))[0]).toBe(503);
  });
});
