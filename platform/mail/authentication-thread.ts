import { parentPort } from "node:worker_threads";
import { authenticateEmail } from "./authenticate-email.ts";
import type { CheckedMail, MailToCheck } from "./email-authenticator.ts";
import { MailDns } from "./mail-dns.ts";

// The thread of `EmailAuthenticator`: a message in, what SPF, DKIM and DMARC say about it out.
parentPort?.on("message", (given: MailToCheck) => void check(given).then((checked) => parentPort?.postMessage(checked)));

async function check({ id, mail, servers, until }: MailToCheck): Promise<CheckedMail> {
  const dns = new MailDns({ servers, maxMs: Math.max(1, until - Date.now()) });
  try {
    return { id, authentication: await authenticateEmail({ ...mail, raw: Buffer.from(mail.raw) }, dns) };
  } finally {
    dns.end();
  }
}
