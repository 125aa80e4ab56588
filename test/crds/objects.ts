import type { Kind } from "../../crds/resource.ts";
import { accountKind } from "../../crds/account.ts";
import { appKind } from "../../crds/app.ts";
import { autoSubscriptionKind } from "../../crds/auto-subscription.ts";
import { dataStoreKind } from "../../crds/data-store.ts";
import { componentKind } from "../../crds/component.ts";
import { variableKind } from "../../crds/variable.ts";
import { oauthClientKind } from "../../crds/oauth-client.ts";
import { runnerPoolKind } from "../../crds/runner-pool.ts";
import { sourceKind } from "../../crds/source.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";

/** A spec that is accepted, or that is refused with a message, by the API server and by the schema alike. */
export interface Example {
  readonly kind: Kind;
  readonly name?: string;
  readonly spec: unknown;
  /** Absent: accepted. Two texts where bounds, not rules, refuse: the API server's, then ours. */
  readonly refused?: string | readonly [api: string, ours: string];
}

/** A change of an accepted spec. */
export interface Change {
  readonly kind: Kind;
  readonly before: unknown;
  readonly after: unknown;
  readonly refused?: string;
}

const kibibytes = (count: number, character = "x"): string => character.repeat(count * 1_024);
const secretKeyRef = { name: "keys", key: "token" };
const props = (value: unknown) => ({ componentRef: { name: "a" }, props: { value } });

const npmAddress = "or an address of npm such as npm:<package>@<version>/<file>";
const oneCode = "set exactly one of code, codeFrom, componentRef and url: they say which code the source runs";
const beside = "files and entry belong to code: set them only beside it";
const secretText = "set exactly one of sealed and secretKeyRef: they refer to the secret text";
const nameForm = "a name has at most 63 lower-case letters, digits and dashes, and begins and ends with a letter or digit";
const keyForm = "a key has at most 253 letters, digits, '-', '_' and '.'";
const address = "it must be a URL that begins with http:// or https:// and has a host";
const tooSmall = ["should be greater than or equal to 1", "intervalSeconds must be a whole number of seconds from 1 to 31622400"] as const;
const tooLarge = [
  "should be less than or equal to 31622400",
  "intervalSeconds must be a whole number of seconds from 1 to 31622400",
] as const;

const sources: readonly Omit<Example, "kind">[] = [
  { spec: { code: "export default {}" } },
  { spec: { codeFrom: { configMapKeyRef: { name: "code", key: "feed.mjs" } } } },
  { spec: { componentRef: { name: "feed" } } },
  { spec: { url: "https://example.com/feed.mjs" } },
  { spec: {}, refused: oneCode },
  { spec: { code: "export default {}", url: "https://example.com/feed.mjs" }, refused: oneCode },
  { spec: { componentRef: { name: "a" }, codeFrom: { configMapKeyRef: secretKeyRef } }, refused: oneCode },
  { spec: { code: "" }, refused: ["should be at least 1 chars long", ">=1 characters"] },
  { spec: { code: kibibytes(1_024) } },
  // Two bytes each: half as many characters are as much.
  { spec: { code: kibibytes(512, "é") } },
  { spec: { code: kibibytes(513, "é") }, refused: "code has at most 1 MiB (1048576 bytes of UTF-8)" },
  { spec: { codeFrom: { configMapKeyRef: { name: "Code", key: "a" } } }, refused: nameForm },
  { spec: { codeFrom: { configMapKeyRef: { name: "code", key: "a/b" } } }, refused: keyForm },
  { spec: { codeFrom: {} }, refused: ["spec.codeFrom.configMapKeyRef: Required value", "expected object, received undefined"] },
  { spec: { componentRef: { name: "-feed" } }, refused: nameForm },
  { spec: { componentRef: { name: "a".repeat(64) } }, refused: ["Too long: may not be more than 63", "<=63 characters"] },
  { spec: { code: "x", entry: "sources/feed.mjs", files: { "app.mjs": "", "sources/a b.json": "{}" } } },
  { spec: { url: "https://example.com/feed.mjs", files: { "a.mjs": "" } }, refused: beside },
  { spec: { componentRef: { name: "a" }, entry: "a.mjs" }, refused: beside },
  { spec: { url: "npm:@acme/tasks@^1.2.0 || 2/sources/new-task/new-task.mjs" } },
  { spec: { url: "npm:@acme/piece-ledger#trigger/new_entry" } },
  { spec: { url: "npm:../tasks" }, refused: npmAddress },
  { spec: { url: "npm:tasks@https://example.com/x.tgz" }, refused: npmAddress },
  { spec: { url: "npm:tasks#hook/x" }, refused: npmAddress },
  { spec: { url: "ftp://example.com/feed.mjs" }, refused: address },
  { spec: { url: "example.com/feed.mjs" }, refused: address },
  { spec: { url: "https:///feed.mjs" }, refused: address },
  { spec: { url: "https://example.com/\u0001" }, refused: address },
  { spec: { componentRef: { name: "a" }, name: "" }, refused: ["should be at least 1 chars long", ">=1 characters"] },
  { spec: { componentRef: { name: "a" }, name: "x".repeat(255) } },
  { spec: { componentRef: { name: "a" }, name: "x".repeat(256) }, refused: ["Too long: may not be more than 255", "<=255 characters"] },
  { spec: { componentRef: { name: "a" }, redeploy: "x".repeat(64) }, refused: ["Too long: may not be more than 63", "<=63 characters"] },
  { spec: { componentRef: { name: "a" }, active: "yes" }, refused: ["must be of type boolean", "expected boolean"] },
  { spec: props("text") },
  { spec: props([1, { deep: [true, null] }]) },
  { spec: props({ intervalSeconds: 1 }) },
  { spec: props({ intervalSeconds: 366 * 24 * 60 * 60 }) },
  { spec: props({ intervalSeconds: "15" }) },
  { spec: props({ cron: "*/5 * * * *", timezone: "Europe/Berlin" }) },
  { spec: props({ intervalSeconds: 0 }), refused: tooSmall },
  { spec: props({ intervalSeconds: 366 * 24 * 60 * 60 + 1 }), refused: tooLarge },
  { spec: props({ intervalSeconds: 1.5 }), refused: ["should be a multiple of 1", tooSmall[1]] },
  {
    spec: { componentRef: { name: "a" }, props: Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`p${i}`, i])) },
    refused: ["must have at most 250 items", "it must have at most 250 entries"],
  },
  { spec: { componentRef: { name: "a" }, secrets: { token: { secretKeyRef }, other: { sealed: "eyJ" } } } },
  { spec: { componentRef: { name: "a" }, secrets: { token: {} } }, refused: secretText },
  { spec: { componentRef: { name: "a" }, secrets: { token: { sealed: "eyJ", secretKeyRef } } }, refused: secretText },
  { spec: { componentRef: { name: "a" }, secrets: { token: { secretKeyRef: { name: "a.b", key: "c" } } } }, refused: nameForm },
  { spec: { componentRef: { name: "a" }, secrets: { token: { secretKeyRef: { name: "a", key: "" } } } }, refused: keyForm },
  { name: "n".repeat(63), spec: { componentRef: { name: "a" } } },
  { name: "n".repeat(58), spec: { url: "https://example.com/feed.mjs" } },
  {
    name: "n".repeat(59),
    spec: { url: "https://example.com/feed.mjs" },
    refused: "has at most 58 characters: its component is named after it",
  },
];

const components: readonly Omit<Example, "kind">[] = [
  { spec: { code: "export default {}", key: "feed", url: "https://example.com/feed.mjs" } },
  { spec: {}, refused: ["spec.code: Required value", "expected string, received undefined"] },
  { spec: { code: kibibytes(513, "é") }, refused: "code has at most 1 MiB (1048576 bytes of UTF-8)" },
  { spec: { code: "x", url: "file:///etc/passwd" }, refused: address },
  { spec: { code: "x", entry: "a.mjs", files: Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`${n}.mjs`, ""])) } },
  {
    spec: { code: "x", files: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`${n}.mjs`, ""])) },
    refused: ["must have at most 200 items", "it must have at most 200 entries"],
  },
  { spec: { code: "x", files: { "a.mjs": 1 } }, refused: ["must be of type string", "expected string, received number"] },
  { spec: { code: "x", entry: "" }, refused: ["should be at least 1 chars long", ">=1 characters"] },
];

const self = "a source or workflow can listen to itself only on a channel of its own: otherwise each of its events would cause another";
const oneEmitter = "set exactly one of emitter and emitterRef: they name the emitter";
const oneListener = "set exactly one of listener and listenerRef: they name the listener";
const hook = { kind: "Webhook", name: "hook" };
const subscriptions: readonly Omit<Example, "kind">[] = [
  { spec: { emitterRef: { kind: "Source", name: "a" }, listenerRef: hook } },
  { spec: { emitterRef: { kind: "Source", name: "a" }, listenerRef: { kind: "Workflow", name: "a" } } },
  { spec: { emitter: "dc_1", listener: "wh_1", channel: "$errors" } },
  ...["dc_1a", "p_1", "o_1", "u_1", "dc_*", "p_*"].map((emitter) => ({ spec: { emitter, listenerRef: hook } })),
  ...["wh_1", "u_*", "o_*", "dc*", "*", "dc_A", ""].map((emitter) => ({
    spec: { emitter, listenerRef: hook },
    refused: "an emitter is the public id of a source (dc_…), a workflow (p_…), an organization (o_…) or the owner (u_…), or dc_* or p_*",
  })),
  ...["dc_1", "p_1", "wh_1"].map((listener) => ({ spec: { emitter: "dc_2", listener } })),
  ...["o_1", "dc_*", "wh"].map((listener) => ({
    spec: { emitter: "dc_2", listener },
    refused: "a listener is the public id of a source (dc_…), a workflow (p_…) or a webhook (wh_…)",
  })),
  { spec: { listener: "wh_1" }, refused: oneEmitter },
  { spec: { emitter: "dc_1", emitterRef: { kind: "Source", name: "a" }, listener: "wh_1" }, refused: oneEmitter },
  { spec: { emitter: "dc_1" }, refused: oneListener },
  { spec: { emitter: "dc_1", listener: "wh_1", listenerRef: hook }, refused: oneListener },
  { spec: { emitter: "dc_1", listener: "dc_1" }, refused: self },
  { spec: { emitter: "dc_1", listener: "dc_1", channel: "$errors" }, refused: self },
  { spec: { emitter: "p_1", listener: "p_1", channel: "tasks" } },
  { spec: { emitter: "p_1", listener: "p_1" }, refused: self },
  { spec: { emitter: "o_1", listener: "o_1", channel: "tasks" }, refused: self },
  { spec: { emitter: "dc_1", listener: "dc_1", channel: "tasks" } },
  { spec: { emitterRef: { kind: "Source", name: "a" }, listenerRef: { kind: "Source", name: "a" }, channel: "tasks" } },
  { spec: { emitterRef: { kind: "Source", name: "a" }, listenerRef: { kind: "Source", name: "a" } }, refused: self },
  { spec: { emitterRef: { kind: "Source", name: "a" }, listenerRef: { kind: "Source", name: "b" } } },
  {
    spec: { emitterRef: { kind: "Webhook", name: "a" }, listener: "wh_1" },
    refused: ['Unsupported value: "Webhook": supported values: "Source", "Workflow"', 'expected one of "Source"|"Workflow"'],
  },
  { spec: { emitter: "dc_1", listenerRef: { kind: "Webhook", name: "Hook" } }, refused: nameForm },
  { spec: { emitter: "dc_1", listener: "wh_1", channel: "x".repeat(256) }, refused: ["may not be more than 255", "<=255 characters"] },
];

const autoSubscriptions: readonly Omit<Example, "kind">[] = [
  { spec: { channel: "$errors", listenerRef: hook } },
  { spec: { channel: "$logs", listener: "p_1" } },
  { spec: { channel: "other", listener: "p_1" }, refused: ['supported values: "$errors", "$logs"', 'expected one of "$errors"|"$logs"'] },
  { spec: { channel: "$logs" }, refused: "set exactly one of listener and listenerRef: they name the listener" },
  { spec: { channel: "$logs", listener: "u_1" }, refused: "a listener is the public id of a source" },
];

const webhooks: readonly Omit<Example, "kind">[] = [
  { spec: { url: "http://receiver.example.com:8080/events?a=b" } },
  { spec: { url: "https://[2001:db8::1]/events", signingKeys: [{ secretKeyRef }, { secretKeyRef: { name: "keys", key: "old" } }] } },
  ...[
    "HTTPS://EXAMPLE.com",
    "http://example.com:65535?x=%C3%A4",
    "http://example.com:/",
    "http://192.0.2.1/",
    "https://[::1]:8080/",
    "http://9to5.internal/events",
    "http://a_b:8080",
    'https://m\u00fcnchen.example/\u00e4?b=|<>"^',
  ].map((url) => ({ spec: { url } })),
  { spec: {}, refused: ["spec.url: Required value", "expected string, received undefined"] },
  ...[
    "ws://example.com",
    "/events",
    "https://",
    "http:example.com",
    "https://exa mple.com",
    "javascript:alert(1)",
    "https://a?b=c d",
    "https://a/%zz",
    "https://a#b",
    "https://a\\b",
    // These were accepted by the API server alone.
    "https://example.com:99999/",
    "https://example.com:65536/",
    "https://example.com:0/",
    "https://example.com/?a=%zz",
    "https://example.com/%",
    "https://example.com/%a",
    "https://example.com/\u00a0",
    "https://example.com/a\u2028b",
    "https://example.com/\u200b",
    "https://\ufeffexample.com/",
    "https://1.2.3.4.5/",
    "https://256.1.1.1/",
    "https://example.123/",
    "https://0x7f/",
    "https://a:80:80/",
    "https://a<b/",
    "https://[::1/",
    "https://[::g]/",
    "https://[1.2.3.4]/",
  ].map((url) => ({
    spec: { url },
    refused: address,
  })),
  { spec: { url: "https://example.com/@here", basicAuth: { secretKeyRef } } },
  ...["https://user:secret@example.com/", "http://token@example.com", "https://@example.com/"].map((url) => ({
    spec: { url },
    refused: "it must not contain a user name or password: put user:password in a Secret and refer to it in basicAuth",
  })),
  { spec: { url: "https://example.com", basicAuth: {} }, refused: secretText },
  { spec: { url: `https://example.com/${"x".repeat(2_048)}` }, refused: ["may not be more than 2048", "<=2048 characters"] },
  { spec: { url: "https://example.com", signingKeys: [{}] }, refused: secretText },
  {
    spec: { url: "https://example.com", signingKeys: [{ secretKeyRef }, { secretKeyRef }, { secretKeyRef }] },
    refused: ["must have at most 2 items", "<=2 items"],
  },
  { spec: { url: "https://example.com", description: "x".repeat(2_001) }, refused: ["may not be more than 2000", "<=2000 characters"] },
];

const oauth = { tokenUrl: "https://github.com/login/oauth/access_token", clientId: "c", refreshToken: { secretKeyRef } };
const { refreshToken: _, ...ofClient } = { ...oauth, grant: "client_credentials" };
const accounts: readonly Omit<Example, "kind">[] = [
  { spec: { app: "google_sheets", name: "Mine", credentials: { oauth_access_token: { secretKeyRef } } } },
  { spec: { app: "GitHub", credentials: {} }, refused: "an app's name has at most 63 lower-case letters, digits, '_' and '-'" },
  { spec: { app: "github" }, refused: ["spec.credentials: Required value", "expected record, received undefined"] },
  { spec: { app: "github", credentials: { token: {} } }, refused: secretText },
  { spec: { app: "github", credentials: {}, oauth } },
  {
    spec: {
      app: "github",
      credentials: {},
      oauth: {
        ...oauth,
        clientSecret: { secretKeyRef },
        clientAuthentication: "body",
        scope: "repo",
        expiresAt: "2026-11-21T12:00:00.5+01:00",
      },
    },
  },
  { spec: { app: "github", credentials: {}, oauth: { ...ofClient, clientSecret: { secretKeyRef } } } },
  {
    spec: { app: "github", credentials: {}, oauth: { ...oauth, grant: "client_credentials" } },
    refused: "refreshToken belongs to the grant",
  },
  {
    spec: { app: "github", credentials: {}, oauth: { ...ofClient, grant: "refresh_token" } },
    refused: "refreshToken belongs to the grant",
  },
  { spec: { app: "github", credentials: {}, oauth: { ...oauth, refreshToken: {} } }, refused: secretText },
  { spec: { app: "github", credentials: {}, oauth: { ...oauth, tokenUrl: "github.com/token" } }, refused: address },
  { spec: { app: "github", credentials: {}, oauth: { ...oauth, expiresAt: "tomorrow" } }, refused: "a time must be in RFC 3339 format" },
  {
    spec: { app: "github", credentials: {}, oauth: { ...oauth, clientAuthentication: "header" } },
    refused: ["Unsupported value", 'expected one of "basic"|"body"'],
  },
];

/** With all defaults: the API server sets none within a step. */
const leaf = (name: string) => ({ name, componentRef: { name: "a" }, props: {}, secrets: {}, retries: 0, continueOnError: false });
const controls = [
  { name: "decide", if: "{{ true }}", then: [leaf("yes")], elseIf: [{ if: "{{ false }}", then: [leaf("maybe")] }], else: [leaf("no")] },
  {
    name: "choose",
    switch: "{{ 1 }}",
    cases: [
      { equals: 1, steps: [leaf("one")] },
      { when: "{{ true }}", steps: [] },
    ],
    default: [],
  },
  { name: "each", forEach: "{{ [1] }}", as: "row", concurrency: 50, maxItems: 10_000, onError: "continue", steps: [leaf("unit")] },
  { name: "beside", parallel: [[leaf("left")], [leaf("right")]] },
  { name: "again", while: "{{ false }}", maxIterations: 5, steps: [leaf("round")] },
  { name: "guarded", try: [leaf("risky")], catch: [leaf("handled")], finally: [leaf("at_last")] },
  { name: "call", workflow: "p_1", event: { a: 1 }, wait: false },
  { name: "end", stop: "enough" },
];

const workflows: readonly Omit<Example, "kind">[] = [
  { spec: { steps: controls } },
  { spec: { steps: [{ ...controls[0], componentRef: { name: "a" } }] }, refused: "set exactly one of" },
  { spec: { steps: [{ ...controls[0], try: [] }] }, refused: "set exactly one of" },
  { spec: { steps: [{ ...controls[2], concurrency: 51 }] }, refused: ["should be less than or equal to 50", "<=50"] },
  { spec: { steps: [{ ...controls[2], maxItems: 10_001 }] }, refused: ["should be less than or equal to 10000", "<=10000"] },
  {
    spec: { steps: [{ ...controls[2], onError: "ignore" }] },
    refused: ['supported values: "stop", "continue"', 'expected one of "stop"|"continue"'],
  },
  {
    spec: { steps: [{ name: "beside", parallel: Array.from({ length: 51 }, () => []) }] },
    refused: ["must have at most 50 items", "<=50 items"],
  },
  { spec: {} },
  { spec: { steps: [{ name: "post", componentRef: { name: "a" }, props: { every: { intervalSeconds: 5 } } }] } },
  { spec: { steps: [{ name: "", componentRef: { name: "a" } }] }, refused: "a step's name begins with a letter" },
  {
    spec: {
      steps: [
        { name: "a", componentRef: { name: "a" } },
        { name: "a", url: "https://example.com/a.mjs" },
      ],
    },
    refused: "two steps have the same name",
  },
  { spec: { steps: [{ name: "trigger", code: "export default {}" }] }, refused: "no step may be named 'trigger'" },
  { spec: { steps: [{ name: "a", code: "export default {}", url: "https://example.com/a.mjs" }] }, refused: "set exactly one of" },
  { spec: { triggers: [{ source: "dc_1" }, { http: {} }, { timer: { cron: "* * * * *" } }] } },
  { spec: { triggers: [{ source: "dc_1", http: {} }] }, refused: "set exactly one of" },
  { spec: { steps: [{ name: "post", componentRef: { name: "A" } }] }, refused: nameForm },
  {
    spec: { steps: Array.from({ length: 101 }, (_, index) => ({ name: `post${index}`, componentRef: { name: "a" } })) },
    refused: ["must have at most 100 items", "<=100 items"],
  },
];

const pools: readonly Omit<Example, "kind">[] = [
  { spec: {} },
  {
    spec: {
      owner: "u_1",
      minReplicas: 0,
      maxReplicas: 3,
      runtimeClassName: "gvisor",
      resources: { requests: { cpu: "500m", memory: "1Gi" }, limits: { cpu: 2, memory: "2e9" } },
      nodeSelector: { "kubernetes.io/arch": "amd64" },
      tolerations: [{ key: "sandbox", operator: "Exists", effect: "NoSchedule" }],
      egressAllow: ["10.20.0.0/16", "fd00:1::/64", "192.168.1.7/32"],
    },
  },
  { spec: { owner: "alice" }, refused: "an owner is the public id of a user (u_…) or an organization (o_…)" },
  { spec: { minReplicas: 5 }, refused: "minReplicas must not be more than maxReplicas" },
  { spec: { minReplicas: 4, maxReplicas: 4 } },
  { spec: { minReplicas: -1 }, refused: ["should be greater than or equal to 0", ">=0"] },
  { spec: { maxReplicas: 0, minReplicas: 0 }, refused: ["should be greater than or equal to 1", ">=1"] },
  { spec: { maxReplicas: 101 }, refused: ["should be less than or equal to 100", "<=100"] },
  { spec: { replicas: 1.5 }, refused: ["must be of type integer", "expected int"] },
  { spec: { terminationGracePeriodSeconds: 3_601 }, refused: ["should be less than or equal to 3600", "<=3600"] },
  ...["10.0.0.0", "10.0.0.0/33", "::ffff:10.0.0.0/104", "example.com", "10.0.0/8", ""].map((cidr) => ({
    spec: { egressAllow: [cidr] },
    refused: "it must be an address range in CIDR notation, such as 10.20.0.0/16 or fd00:1::/64",
  })),
  ...["1 Gi", "1gb", "lots", ""].map((memory) => ({
    spec: { resources: { limits: { memory } } },
    refused: "it must be a quantity such as 500m, 2 or 512Mi",
  })),
  { spec: { runtimeClassName: "gVisor" }, refused: nameForm },
  { spec: { tolerations: [{ operator: "Maybe" }] }, refused: ['supported values: "Exists", "Equal"', 'expected one of "Exists"|"Equal"'] },
  { name: "p".repeat(35), spec: {} },
  { name: "p".repeat(36), spec: {}, refused: "the name of a pool has at most 35 characters: its pods are named after it" },
];

const appOauth = { authorizationUrl: "https://acme.example/authorize", tokenUrl: "http://10.0.0.1/token", scopes: ["read"] };
const apps: readonly Omit<Example, "kind">[] = [
  {
    spec: {
      slug: "acme",
      name: "Acme",
      auth: "oauth2",
      oauth: { ...appOauth, scopeSeparator: ",", authorizationParameters: { prompt: "consent" } },
    },
  },
  {
    spec: {
      slug: "acme",
      name: "Acme",
      auth: "keys",
      fields: [{ name: "api_key", secret: true }],
      test: { url: "https://acme.example/me" },
    },
  },
  { spec: { slug: "acme", name: "Acme", auth: "none" } },
  { spec: { slug: "Acme", name: "Acme", auth: "none" }, refused: "an app's name has at most 63 lower-case letters" },
  { spec: { slug: "acme", name: "Acme", auth: "oauth2" }, refused: "oauth belongs to auth oauth2, which needs it" },
  { spec: { slug: "acme", name: "Acme", auth: "oauth2", oauth: { grant: "client_credentials", tokenUrl: "https://acme.example/token" } } },
  {
    spec: { slug: "acme", name: "Acme", auth: "oauth2", oauth: { tokenUrl: "https://acme.example/token" } },
    refused: "oauth.authorizationUrl is missing: the grant authorization_code needs it",
  },
  { spec: { slug: "acme", name: "Acme", auth: "keys" }, refused: "fields belong to auth keys, which needs them" },
  { spec: { slug: "acme", name: "Acme", auth: "oauth2", oauth: { ...appOauth, tokenUrl: "ftp://acme.example" } }, refused: address },
];

const oauthClients: readonly Omit<Example, "kind">[] = [
  { spec: { app: "acme", clientId: "c", clientSecret: { secretKeyRef }, scopes: ["read"] } },
  { spec: { app: "acme", clientId: "c" } },
  { spec: { app: "acme", clientId: "c", clientSecret: {} }, refused: secretText },
  { spec: { app: "Acme", clientId: "c" }, refused: "an app's name has at most 63 lower-case letters" },
];

const variables: readonly Omit<Example, "kind">[] = [
  { spec: { name: "API_URL", value: "" } },
  { spec: { name: "_key2", valueFrom: { secretKeyRef }, shared: true } },
  { spec: { name: "API_URL", value: "a", valueFrom: { secretKeyRef } }, refused: "set exactly one of value and valueFrom" },
  { spec: { name: "2ND", value: "a" }, refused: "a variable's name has at most 128 letters" },
  { spec: { name: "PD_COMPONENT", value: "a" }, refused: "Headwater sets PD_COMPONENT" },
];

const dataStores: readonly Omit<Example, "kind">[] = [
  { spec: {} },
  { spec: { name: "Orders", description: "by number" } },
  { spec: { name: "" }, refused: ["should be at least 1 chars long", ">=1 characters"] },
];

const of = (kind: Kind, examples: readonly Omit<Example, "kind">[]): readonly Example[] =>
  examples.map((example) => ({ kind, ...example }));

export const examples: readonly Example[] = [
  ...of(sourceKind, sources),
  ...of(componentKind, components),
  ...of(subscriptionKind, subscriptions),
  ...of(autoSubscriptionKind, autoSubscriptions),
  ...of(webhookKind, webhooks),
  ...of(accountKind, accounts),
  ...of(appKind, apps),
  ...of(oauthClientKind, oauthClients),
  ...of(variableKind, variables),
  ...of(dataStoreKind, dataStores),
  ...of(workflowKind, workflows),
  ...of(runnerPoolKind, pools),
];

const auto = { channel: "$errors", listener: "p_1" };
const afterIt = "it cannot be changed, because subscriptions were created from it";
export const changes: readonly Change[] = [
  { kind: autoSubscriptionKind, before: auto, after: auto },
  { kind: autoSubscriptionKind, before: auto, after: { ...auto, channel: "$logs" }, refused: afterIt },
  { kind: autoSubscriptionKind, before: auto, after: { ...auto, listener: "p_2" }, refused: afterIt },
  { kind: autoSubscriptionKind, before: auto, after: { channel: "$errors", listenerRef: hook }, refused: afterIt },
  {
    kind: autoSubscriptionKind,
    before: { channel: "$errors", listenerRef: hook },
    after: { channel: "$errors", listenerRef: { ...hook, name: "other" } },
    refused: afterIt,
  },
  { kind: accountKind, before: { app: "github", credentials: {} }, after: { app: "github", name: "Mine", credentials: {} } },
  {
    kind: accountKind,
    before: { app: "github", credentials: {} },
    after: { app: "gitlab", credentials: {} },
    refused: "the app of an account cannot be changed",
  },
  { kind: runnerPoolKind, before: { owner: "u_1" }, after: { owner: "u_1", maxReplicas: 9 } },
  { kind: runnerPoolKind, before: { owner: "u_1" }, after: { owner: "u_2" }, refused: "the owner of a pool cannot be changed" },
  { kind: runnerPoolKind, before: {}, after: { owner: "u_2" }, refused: "the owner of a pool cannot be changed" },
  { kind: runnerPoolKind, before: { owner: "u_1" }, after: {}, refused: "the owner of a pool cannot be changed" },
  { kind: sourceKind, before: { code: "export default {}" }, after: { url: "https://example.com/feed.mjs" } },
];

/** What stands in the title of a test. */
export function titleOf({ kind, spec, name }: Pick<Example, "kind" | "spec" | "name">): string {
  const text = JSON.stringify(spec);
  return `${kind.kind} ${name === undefined ? "" : `of a name of ${name.length} `}${text.length > 120 ? `${text.slice(0, 120)}…` : text}`;
}
