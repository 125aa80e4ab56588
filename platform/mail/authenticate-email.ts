import { evaluateDmarc } from "mailauth/lib/dmarc/index.js";
import type { SignatureResult } from "mailauth/lib/dkim/dkim-verifier.js";
import { spf } from "mailauth/lib/spf/index.js";
import { getAlignment } from "mailauth/lib/tools.js";
import {
  dkimResults,
  dmarcPolicies,
  dmarcResults,
  spfResults,
  undetermined,
  type EmailAuthentication,
} from "../../domain/invocation/email-authentication.ts";
import { verifySignatures } from "./dkim-signatures.ts";
import { maxNameLength, type MailDns } from "./mail-dns.ts";

export interface SentMail {
  readonly raw: Buffer;
  /** Address of the client, and its name by its own account. */
  readonly ip: string;
  readonly helo: string;
  /** Of the envelope; "" of a bounce. */
  readonly sender: string;
  /** The address that the event shows as `From`; "" without one. */
  readonly from: string;
}

/** Checks a message within the bounds of its lookups. What is not known at their end is `temperror`. Never rejects. */
export async function authenticateEmail(mail: SentMail, dns: MailDns): Promise<EmailAuthentication> {
  const [sender, signatures] = await Promise.all([
    dns.within(checkSender(mail, dns), () => undetermined.spf),
    dns.within(checkSignatures(mail, dns), () => (dns.hasEnded ? unknown : unreadable)),
  ]);
  return {
    spf: sender,
    dkim: signatures.dkim,
    dmarc: await dns.within(checkAuthor(mail, sender, signatures, dns), () => undetermined.dmarc),
  };
}

async function checkSender({ ip, helo, sender }: SentMail, dns: MailDns): Promise<EmailAuthentication["spf"]> {
  // `mta` is for macros of records: the servers that answer must not learn the host's name.
  const { domain, status } = await spf({ ip, helo, sender, mta: "unknown", resolver: dns.resolve, strict: true });
  return { result: oneOf(spfResults, status.result, "temperror"), domain: named(domain) };
}

interface Signatures {
  readonly results: readonly SignatureResult[];
  readonly dkim: EmailAuthentication["dkim"];
  /** Addresses in `From`, and how many fields of that name there are; or why they are not known. */
  readonly authors: { readonly addresses: readonly string[]; readonly fields: number } | "temperror" | "permerror";
}

const unknown: Signatures = { results: [], dkim: undetermined.dkim, authors: "temperror" };
/** A message beyond the bounds is that the next time too. */
const unreadable: Signatures = {
  results: [],
  dkim: [{ result: "permerror", domain: null, selector: null }],
  authors: "permerror",
};

async function checkSignatures({ raw }: SentMail, dns: MailDns): Promise<Signatures> {
  const { results: found, headerFrom, fromFields } = await verifySignatures(raw, dns);
  const results = found.filter(({ status }) => status.result !== "none");
  const dkim = results.map((each) => ({
    result: coversPart(each) ? "policy" : oneOf(dkimResults, each.status.result, "temperror"),
    domain: named(each.signingDomain),
    selector: named(each.selector),
  }));
  return { results, dkim, authors: { addresses: headerFrom, fields: fromFields } };
}

async function checkAuthor(
  { from }: SentMail,
  sender: EmailAuthentication["spf"],
  { results, authors }: Signatures,
  dns: MailDns,
): Promise<EmailAuthentication["dmarc"]> {
  if (typeof authors === "string") return { result: authors, domain: null, policy: null };
  const { response } = await evaluateDmarc({
    // Another parser has read the `From` of the event. A message that makes the two differ has more than one author.
    headerFrom: [...authors.addresses, from],
    fromFields: authors.fields,
    spfDomains: sender.result === "pass" && sender.domain !== null ? [sender.domain] : [],
    dkimDomains: results
      .filter((each) => each.status.result === "pass" && !coversPart(each))
      .map(({ signingDomain = "" }) => ({ domain: signingDomain })),
    resolver: dns.resolve,
    strict: true,
  });
  if (response === false) return { result: "permerror", domain: null, policy: null };
  const domain = response.status.header?.from ?? "";
  const result = oneOf(dmarcResults, response.status.result, "temperror");
  return {
    result: result === "fail" && mightPass(domain, sender, results) ? "temperror" : result,
    domain: named(domain),
    policy: oneOf(dmarcPolicies, response.policy, null),
  };
}

/** Whether a lookup failed for a domain of the author's organization. One that fails for another domain changes nothing. */
function mightPass(author: string, sender: EmailAuthentication["spf"], results: readonly SignatureResult[]): boolean {
  if (sender.result === "temperror" && getAlignment(author, [sender.domain ?? ""]) !== false) return true;
  return results.some(({ status }) => status.result === "temperror" && typeof status.aligned === "string");
}

/** Anyone could have added to the rest of the message. */
const coversPart = ({ status }: SignatureResult): boolean => status.result === "pass" && (status.underSized ?? 0) > 0;

const oneOf = <Value extends string, Other>(values: readonly Value[], value: string, other: Other): Value | Other =>
  values.find((each) => each === value) ?? other;

const named = (name: string | undefined): string | null => (name === undefined || name === "" ? null : name.slice(0, maxNameLength));
