/**
 * Names on the wire. With a prefix, several installations share one account of NATS without meeting: each subject begins with
 * `<prefix>.`, and each stream, bucket and object store with `<prefix>_`. All other code uses the names of `domain/subjects.ts`: this file
 * converts them, where `namedNats` and `namedManager` hand them to the client (decision 0111).
 */
export interface WireNames {
  /** `$JS.API`, `$JS.<domain>.API`, or its imported name in the user's account. */
  readonly apiPrefix: string;
  readonly stream: (name: string) => string;
  /** The inverse of `stream`; undefined for a stream of another installation. */
  readonly streamOf: (wire: string) => string | undefined;
  /** Also converts requests to the JetStream API and subjects with wildcards, such as permissions. Inboxes keep their name. */
  readonly subject: (subject: string) => string;
  /**
   * The subject to publish on. In a JetStream domain entries are published through its API: leaf nodes forward no `$KV.>`, since their own
   * JetStream may have the same bucket.
   */
  readonly target: (subject: string) => string;
  /** The inverse of `subject`, for subjects of messages. */
  readonly subjectOf: (wire: string) => string;
}

const same = (name: string): string => name;
const isWildcard = (token: string): boolean => token === "*" || token === ">";

export function wireNames(apiPrefix: string, prefix: string | undefined): WireNames {
  const names = prefix === undefined ? unprefixed(apiPrefix) : prefixed(apiPrefix, prefix);
  const isOfDomain = /^\$JS\..+\.API$/.test(apiPrefix);
  const target = (text: string): string => {
    const subject = names.subject(text);
    return subject.startsWith("$KV.") ? `${apiPrefix}.${subject}` : subject;
  };
  return { ...names, target: isOfDomain ? target : names.subject };
}

const unprefixed = (apiPrefix: string): Omit<WireNames, "target"> => ({
  apiPrefix,
  stream: same,
  streamOf: same,
  subject: same,
  subjectOf: same,
});

function prefixed(apiPrefix: string, prefix: string): Omit<WireNames, "target"> {
  const stream = (name: string): string => (isWildcard(name) ? name : name.replace(/^(KV_|OBJ_)?/, `$1${prefix}_`));
  const ownStream = new RegExp(`^(KV_|OBJ_)?${prefix}_(.+)$`);
  const streamOf = (wire: string): string | undefined => (ownStream.test(wire) ? wire.replace(ownStream, "$1$2") : undefined);
  const subject = (text: string): string => {
    if (isWildcard(text)) return text; // All messages of one stream.
    if (text.startsWith(`${apiPrefix}.`)) return `${apiPrefix}.${apiRequest(text.slice(apiPrefix.length + 1), stream, subject)}`;
    const tokens = text.split(".");
    if (tokens[0] === "$KV" || tokens[0] === "$O") return tokens.with(1, `${prefix}_${tokens[1]}`).join(".");
    if (text.startsWith("$JS.ACK.")) return tokens.with(2, stream(tokens[2] ?? "")).join(".");
    return /^[$_]/.test(text) ? text : `${prefix}.${text}`;
  };
  const ownSubject = new RegExp(`^(?:${prefix}\\.|(\\$KV\\.|\\$O\\.)${prefix}_)`);
  return { apiPrefix, stream, streamOf, subject, subjectOf: (wire) => wire.replace(ownSubject, "$1") };
}

/** Operations of the JetStream API whose stream follows after more than two tokens. */
const longOperations = ["CONSUMER.DURABLE.CREATE", "CONSUMER.MSG.NEXT", "STREAM.MSG.GET", "STREAM.MSG.DELETE"];

/** Converts `<operation>.<stream>.<consumer>.<filter>` and `DIRECT.GET.<stream>.<subject>`. Others name no stream: `INFO`, `STREAM.LIST`. */
function apiRequest(request: string, stream: WireNames["stream"], subject: WireNames["subject"]): string {
  const streamAt = longOperations.some((operation) => request.startsWith(`${operation}.`)) ? 3 : 2;
  const tokens = request.split(".");
  const name = tokens[streamAt];
  if (name === undefined) return request;
  const subjectAt = tokens[0] === "DIRECT" ? streamAt + 1 : tokens[0] === "CONSUMER" ? streamAt + 2 : tokens.length;
  const rest = tokens.slice(subjectAt).join(".");
  return [
    ...tokens.slice(0, streamAt),
    stream(name),
    ...tokens.slice(streamAt + 1, subjectAt),
    ...(rest === "" ? [] : [subject(rest)]),
  ].join(".");
}
