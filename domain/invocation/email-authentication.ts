/**
 * What SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 9989) say about an email, with the results of RFC 8601. Only `pass` says something in
 * favor of a sender: senders cause any other result as they like. Domains and selectors are cut to 253 characters.
 */
export interface EmailAuthentication {
  /** Whether the domain of the envelope's sender, or of HELO for a bounce, lets this server send. */
  readonly spf: { readonly result: SpfResult; readonly domain: string | null };
  /** The first signatures of the message, from the top; empty without any. */
  readonly dkim: readonly DkimAuthentication[];
  /** Whether `From` is genuine: SPF or DKIM passes for its domain, or another one of the same organization. */
  readonly dmarc: {
    readonly result: DmarcResult;
    /** That of `From`; null if there is not exactly one. */
    readonly domain: string | null;
    /** What the domain asks for if mail fails; null if it asks for nothing. */
    readonly policy: DmarcPolicy | null;
  };
}

export interface DkimAuthentication {
  readonly result: DkimResult;
  /** The domain that has signed, and the name of its key. */
  readonly domain: string | null;
  readonly selector: string | null;
}

export const spfResults = ["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"] as const;
export type SpfResult = (typeof spfResults)[number];

/** `policy`: correct, but with a weak key or algorithm, or not for the whole message. */
export const dkimResults = ["pass", "fail", "policy", "neutral", "temperror", "permerror"] as const;
export type DkimResult = (typeof dkimResults)[number];

export const dmarcResults = ["pass", "fail", "none", "temperror", "permerror"] as const;
export type DmarcResult = (typeof dmarcResults)[number];

export const dmarcPolicies = ["none", "quarantine", "reject"] as const;
export type DmarcPolicy = (typeof dmarcPolicies)[number];

/** There was no time to find out. */
export const undetermined: EmailAuthentication = {
  spf: { result: "temperror", domain: null },
  dkim: [{ result: "temperror", domain: null, selector: null }],
  dmarc: { result: "temperror", domain: null, policy: null },
};
