import { createHash } from "node:crypto";
import { networkOf } from "../../domain/client-address.ts";
import { InvalidInput, Unavailable } from "../../domain/errors.ts";
import { emailKeyOf, type EmailContent, type EmailEvent } from "../../domain/invocation/email-event.ts";
import type { Invocation } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { Budget } from "../../domain/limits/budget.ts";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import { TokenBuckets } from "../../domain/limits/token-bucket.ts";
import { EmailRefusal } from "../../domain/mail/email-refusal.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import { ownerOf } from "../await-answer.ts";
import type { Packs } from "../packs.ts";
import type { IngressPorts } from "../ports.ts";
import type { ArrivedEmail, AuthenticateEmail, EmailConfig, EmailHandlers, ParseEmail } from "./ports.ts";

export interface EmailReceiving {
  readonly config: Pick<EmailConfig, "domain">;
  /** Maximum bytes of the event of a run, as JSON: the same as of a request's body. */
  readonly eventLimitBytes: number;
  readonly ports: Pick<IngressPorts, "endpoints" | "admission" | "log">;
  readonly packs: Pick<Packs, "add">;
  /** Bytes of invocations that are being stored, those of requests among them. */
  readonly storing: Budget;
  readonly parse: ParseEmail;
  /** Absent: senders are not checked. */
  readonly authenticate?: AuthenticateEmail | undefined;
  /** Ms of a clock that never goes back. */
  readonly now: () => number;
}

/** Messages to one address: one a second, and sixty at once. */
const addressRate = { perSecond: 1, burst: 60 };
/** Messages and recipients of one client network: five a second, and 300 at once. A message may have 50 recipients. */
const peerRate = { perSecond: 5, burst: 300 };
/** Bytes of all messages that arrive; a client network may have half of them. */
const maxArrivingBytes = 64 * 2 ** 20;

const tooFast = (what: string): EmailRefusal => new EmailRefusal(421, `4.7.0 too many messages ${what}: try again later`);
const notNow = (): EmailRefusal => new EmailRefusal(451, "4.3.0 the message cannot be stored now: try again later");
const unknown = (): EmailRefusal => new EmailRefusal(550, "5.1.1 there is no such address");

/**
 * Decides about messages to the addresses of workflows. A message is answered 250 once an invocation is stored for each of its recipients.
 *
 *     MAIL ─▶ rate of the client ─▶ RCPT ─▶ address, rate, backlog ─▶ DATA ─▶ size, parse ─▶ SPF, DKIM, DMARC ─▶ Packs ─▶ NATS ─▶ 250
 */
export function emailHandlers(receiving: EmailReceiving): EmailHandlers {
  const { ports, now } = receiving;
  const [ofAddress, ofPeer] = [new TokenBuckets(addressRate), new TokenBuckets(peerRate)];
  const reading = new FairSemaphore({ permits: 1, permitsPerKey: 1 });
  const arriving = new Budget({ total: maxArrivingBytes, share: maxArrivingBytes / 2 });
  return {
    sender: (peer) => {
      if (!ofPeer.of(networkOf(peer)).take(now())) throw tooFast("from this client");
    },
    recipient: async (address, peer) => {
      // An address cannot be guessed, but each attempt costs a lookup.
      if (!ofPeer.of(networkOf(peer)).take(now())) throw tooFast("from this client");
      const endpoint = await find(address, receiving);
      if (endpoint === undefined) throw unknown();
      if (!endpoint.active) throw new EmailRefusal(450, "4.2.1 the workflow of this address is switched off: try again later");
      if (ports.admission.isFull({ ...endpoint, owner: ownerOf(endpoint) }, performance.now())) throw backlogFull();
    },
    message: (mail) => store(mail, { ...receiving, ofAddress, reading }),
    arriving: (peer) => arriving.open(networkOf(peer)),
  };
}

const backlogFull = (): EmailRefusal => new EmailRefusal(452, "4.3.1 too many messages wait to be run: try again later");

async function find(address: string, { config, ports: { endpoints, log } }: EmailReceiving): Promise<Endpoint | undefined> {
  const key = emailKeyOf(address, config.domain);
  if (key === undefined) return undefined;
  const known = endpoints.peek(key);
  try {
    const endpoint = known === undefined ? await endpoints.find(key) : known;
    return endpoint?.workflow?.hasEmailTrigger === true ? endpoint : undefined;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log.warn({ op: "email.receive", err: error }, "a recipient cannot be looked up now");
    throw notNow();
  }
}

interface Storing extends EmailReceiving {
  readonly ofAddress: TokenBuckets;
  /** Messages are read one at a time, those of client networks in turn. */
  readonly reading: FairSemaphore;
}

/** Stores an invocation for each recipient, or none is acknowledged: a client that repeats the message repeats the same runs. */
async function store(mail: ArrivedEmail, storing: Storing): Promise<void> {
  const content = await storing.reading.use(networkOf(mail.peer), () => contentOf(mail, storing));
  const recipients = [...new Set(mail.recipients.map((address) => address.toLowerCase()))];
  // It costs lookups: not for a message whose workflow is deleted.
  for (const to of recipients) if ((await find(to, storing)) === undefined) throw unknown();
  const authentication = (await storing.authenticate?.(mail, content.from?.address ?? "")) ?? null;
  // Nothing is stored if one of them refuses the message.
  const prepared: Prepared[] = [];
  for (const to of recipients) prepared.push(await prepare(to, mail, { ...content, authentication }, storing));
  try {
    await Promise.all(prepared.map((each) => add(each, storing)));
  } catch (error) {
    if (error instanceof EmailRefusal) throw error;
    storing.ports.log.warn({ op: "email.receive", err: error }, "a message could not be stored");
    throw notNow();
  }
}

async function add({ endpoint, text }: Prepared, { storing, packs }: Storing): Promise<void> {
  const { pool, source } = endpoint;
  const held = storing.open(ownerOf(endpoint));
  if (!held.take(text.length)) throw notNow();
  try {
    await packs.add(pool, partitionOf(source), source, text);
  } finally {
    held.release();
  }
}

async function contentOf(mail: ArrivedEmail, { parse, eventLimitBytes }: Storing): Promise<EmailContent> {
  const content = await parse(mail.raw).catch((error: unknown) => {
    throw error instanceof InvalidInput ? new EmailRefusal(554, `5.6.0 the message cannot be read: ${error.message}`) : error;
  });
  checkSize(content, eventLimitBytes);
  return content;
}

function checkSize(event: object, eventLimitBytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(event));
  if (bytes <= eventLimitBytes) return;
  throw new EmailRefusal(552, `5.3.4 the message with its attachments is ${bytes} bytes as JSON: it may be ${eventLimitBytes}`);
}

interface Prepared {
  readonly endpoint: Endpoint;
  /** Of the invocation, JSON. */
  readonly text: string;
}

type CheckedContent = Omit<EmailEvent, "envelope" | "client_ip">;

/** @throws EmailRefusal */
async function prepare(to: string, { raw, from, peer }: ArrivedEmail, content: CheckedContent, storing: Storing): Promise<Prepared> {
  const { ports, ofAddress, config, now, eventLimitBytes } = storing;
  const endpoint = await find(to, storing);
  if (endpoint === undefined) throw unknown(); // Deleted since RCPT.
  if (!ofAddress.of(emailKeyOf(to, config.domain) ?? "").take(now()))
    throw new EmailRefusal(452, "4.2.2 too many messages to this address: try again later");
  const event: EmailEvent = { ...content, envelope: { from, to }, client_ip: peer };
  checkSize(event, eventLimitBytes);
  const { pool, source } = endpoint;
  const delivery = content.message_id === null ? {} : { delivery: deliveryOf(source, raw) };
  const text = JSON.stringify({ source, trigger: "email", at: Date.now(), event, ...delivery } satisfies Invocation);
  if (!ports.admission.admits({ pool, source, owner: ownerOf(endpoint) }, text.length, performance.now())) throw backlogFull();
  return { endpoint, text };
}

/**
 * A client that got no answer sends the same bytes again, with the same `Message-ID`. The id of its run follows from this id, so it runs
 * once as long as the first run, or the marker behind its end, is stored.
 */
const deliveryOf = (workflow: string, raw: Buffer): string =>
  `m${createHash("sha256").update(workflow).update("\0").update(raw).digest("base64url").slice(0, 22)}`;
