import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createMailMetrics } from "../../platform/telemetry/mail-metrics.ts";

it("counts mails by kind and outcome, and errors without a mail of their own", async () => {
  const registry = new Registry();
  const metrics = createMailMetrics(registry);
  metrics.errorMail("refused");
  metrics.ownMail("sent");
  metrics.suppressed(0);
  metrics.suppressed(99);
  const text = await registry.metrics();
  expect(text).toContain('headwater_mails_total{kind="error",outcome="refused"} 1');
  expect(text).toContain('headwater_mails_total{kind="error",outcome="sent"} 0');
  expect(text).toContain('headwater_mails_total{kind="own",outcome="sent"} 1');
  expect(text).toContain("headwater_mail_suppressed_errors_total 99");
});
