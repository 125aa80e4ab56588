import { afterAll, afterEach, expect, it } from "vitest";
import { AdmissionGate, defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import type { Endpoint } from "../../../domain/source/deployment.ts";
import { partitionCount } from "../../../domain/subjects.ts";
import { emailDefaults } from "../../../ingress/email/ports.ts";
import type { Ingress } from "../../../ingress/start.ts";
import { packPublisher } from "../../../platform/jetstream/invocations/publish-invocation.ts";
import { EmailReader } from "../../../platform/mail/email-reader.ts";
import { startSmtpListener } from "../../../platform/mail/smtp-listener.ts";
import { serveIngress } from "../../ingress/served-ingress.ts";
import { messageOf, sendEmail } from "../../support/send-email.ts";
import { until } from "../../support/until.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { owner, returned, withWorkflows, workflowOf } from "./support.ts";

/** Real streams, runner and SMTP; the code of steps is a function of the test. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, commits } = withWorkflows(nats);
const running: Ingress[] = [];
const reader = new EmailReader();
afterAll(() => reader.stop());
afterEach(async () => {
  for (const ingress of running.splice(0)) await ingress.stop(AbortSignal.timeout(100));
});

/** @param stored called when an invocation is stored, before the answer */
async function receiving(stored: (ingress: Ingress) => Promise<void> = async () => undefined): Promise<number> {
  const entry: Endpoint = {
    source: "p_mail",
    pool: "default",
    owner,
    customResponse: false,
    active: true,
    workflow: { hasHttpTrigger: false, hasEmailTrigger: true, resumeKey: "key" },
  };
  const config = { ...emailDefaults, host: "127.0.0.1", port: 0, domain: "in.example.com", maxMessageBytes: 2 ** 20 };
  const log = { warn: () => undefined };
  const publish = packPublisher(nats.connection);
  const { ingress } = await serveIngress(
    {},
    {
      endpoints: { peek: () => entry, find: async () => entry },
      admission: new AdmissionGate(defaultBacklogLimits),
      invocations: {
        publish: async (subject, pack) => {
          await publish(subject, pack);
          await stored(ingress);
        },
      },
      email: {
        config,
        start: (given, handlers) => startSmtpListener(given, handlers, log),
        parse: (raw) => reader.read(raw),
        now: () => performance.now(),
      },
    },
  );
  running.push(ingress);
  return Number(ingress.emailAddress?.split(":").at(-1));
}

it("runs a workflow once for an email that is sent again because the server died before its answer", async () => {
  await deploy(workflowOf("p_mail", ["one"]));
  const seen: unknown[] = [];
  await start("r_mail", ({ steps }) => {
    const { trigger = {} } = steps;
    const { subject } = trigger["event"] as { readonly subject: string };
    seen.push(subject);
    return returned(null);
  });
  const email = (subject: string) => ({ to: ["orders@in.example.com"], raw: messageOf(subject) });
  const dying = await receiving((ingress) => ingress.stop(AbortSignal.abort()));
  expect(await sendEmail(dying, email("Once"))).toMatchObject({ code: 0 });
  const port = await receiving();
  expect(await sendEmail(port, email("Once"))).toBe(undefined);
  expect(await sendEmail(port, email("Then"))).toBe(undefined);
  await until(async () => (await commits("p_mail")).length >= 2, "both have run");
  await until(() => seen.includes("Then"), "the second one has run");
  expect(seen.toSorted()).toEqual(["Once", "Then"]);
  expect((await commits("p_mail")).map(({ run: { trigger } }) => trigger)).toEqual(["email", "email"]);
});
