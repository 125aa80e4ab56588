import { Counter, type Registry } from "prom-client";
import type { MailMetrics } from "../../delivery/mail/ports.ts";

export function createMailMetrics(registry: Registry): MailMetrics {
  const registers = [registry];
  const mails = new Counter({
    name: "headwater_mails_total",
    help: "Mails to owners, about errors, of $.send.email and to confirm an address, by outcome of an attempt.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  for (const outcome of ["sent", "retry", "refused"]) mails.inc({ kind: "error", outcome }, 0); // Zero rather than absent: rate() needs a first value.
  const suppressed = new Counter({
    name: "headwater_mail_suppressed_errors_total",
    help: "Errors that had no mail of their own, because one about the same error reports them.",
    registers,
  });
  return {
    errorMail: (outcome) => mails.inc({ kind: "error", outcome }),
    suppressed: (count) => suppressed.inc(count),
    confirmation: (outcome) => mails.inc({ kind: "confirmation", outcome }),
    ownMail: (outcome) => mails.inc({ kind: "own", outcome }),
  };
}
