import { beforeAll, describe, expect, it, vi } from "vitest";
import type { WorkloadObject } from "../../../operator/runner-pool/objects/objects.ts";
import { planOf, poolOf, settingsOf } from "../../operator/runner-pool/pools.ts";
import { chartVersion } from "../../support/helm.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";
import { apiBinding, binding, bindings, namespace, requestAs, type Account } from "../as-account.ts";

const release = "/api/v1/namespaces/headwater";
const deployments = "/apis/apps/v1/namespaces/headwater/deployments";
const image = `headwater:${chartVersion()}`;

const runners = planOf(poolOf("default"), settingsOf({ image }));
const kindOf = (kind: WorkloadObject["kind"]): object => runners.find((object) => object.kind === kind) ?? {};
interface Deployment {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}
interface PodSpec {
  readonly containers: readonly object[];
  readonly initContainers: readonly object[];
  readonly volumes: readonly object[];
}
const deployment = kindOf("Deployment") as Deployment; // The plan has exactly this object.

function withPod(change: (pod: PodSpec) => object): object {
  const { spec } = deployment;
  return {
    ...deployment,
    spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, ...change(spec.template.spec) } } },
  };
}
const withContainer = (change: object): object => withPod(({ containers }) => ({ containers: [{ ...containers[0], ...change }] }));
const withSecurity = (change: object): object =>
  withPod(({ containers: [container] }) => ({
    containers: [{ ...container, securityContext: { ...(container as { securityContext: object }).securityContext, ...change } }],
  }));
const withSandbox = (change: object): object =>
  withPod(({ initContainers }) => ({ initContainers: [{ ...initContainers[0], ...change }] }));
const sandboxSecurity = (change: object): object =>
  withPod(({ initContainers: [sandbox] }) => ({
    initContainers: [{ ...sandbox, securityContext: { ...(sandbox as { securityContext: object }).securityContext, ...change } }],
  }));
const withVolume = (volume: object): object => withPod(({ volumes }) => ({ volumes: [...volumes, volume] }));
const renamed = (object: object, name: string): object => ({ ...object, metadata: { name } });
const secret = (name: string, more: object = {}) => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, type: "Opaque", ...more });
const tokenOf = (account: string): object => ({
  metadata: {
    name: "headwater-runner-x",
    labels: { "app.kubernetes.io/managed-by": "headwater" },
    annotations: { "kubernetes.io/service-account.name": account, "headwater.dev/kept-as": "headwater-runner-x" },
  },
  type: "kubernetes.io/service-account-token",
});
/** A Secret as Headwater stores secret texts. @param keptAs the name in its annotation */
const stored = (name: string, keptAs = name): object =>
  secret(name, {
    metadata: { name, labels: { "app.kubernetes.io/managed-by": "headwater" }, annotations: { "headwater.dev/kept-as": keptAs } },
  });
const bindingOfApi = (more: { readonly role?: string; readonly account?: string; readonly name?: string } = {}) =>
  binding({ name: apiBinding, role: apiBinding, account: "headwater-api", ...more });
const owned = (name: string, labels: object = {}): object => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { "headwater.dev/owner": "u_eve00001", "pod-security.kubernetes.io/enforce": "restricted", ...labels } },
});
const source = (name: string): object => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind: "Source",
  metadata: { name },
  spec: { code: "export default {}" },
});
const sources = (inNamespace: string): string => `/apis/headwater.dev/v1alpha1/namespaces/${inNamespace}/sources`;

type Method = "POST" | "PUT" | "PATCH" | "DELETE" | "GET";
type Case = readonly [what: string, account: Account, method: Method, path: string, body: unknown, refusal?: string];

/** Cases with names for the titles of tests. */
const named = (cases: readonly Case[]) =>
  cases.map(([what, account, method, path, body, refusal]) => {
    const verdict = refusal === undefined ? "allowed" : "refused";
    return { what, account, method, path, body, refusal, verdict };
  });

const user = { kind: "User", apiGroup: "rbac.authorization.k8s.io", namespace: undefined };

const rightsOfOwners: readonly Case[] = [
  ["bind the operator in a namespace of an owner", "operator", "POST", bindings("headwater-default"), binding()],
  ["bind the API in a namespace of an owner", "operator", "POST", bindings("headwater-default"), bindingOfApi()],
  [
    "bind the API to the operator's role",
    "operator",
    "POST",
    bindings("headwater-default"),
    bindingOfApi({ role: "headwater-owner-secrets" }),
    "only the ClusterRole",
  ],
  [
    "bind the API to the operator's role, as earlier releases did",
    "operator",
    "POST",
    bindings("headwater-default"),
    binding({ name: "headwater-api" }),
    "its own",
  ],
  [
    "bind itself to the role of the API",
    "operator",
    "POST",
    bindings("headwater-default"),
    binding({ role: apiBinding }),
    "only the ClusterRole",
  ],
  [
    "bind the API by the operator's RoleBinding",
    "operator",
    "POST",
    bindings("headwater-default"),
    binding({ account: "headwater-api" }),
    "its own",
  ],
  ["bind itself in kube-system", "operator", "POST", bindings("kube-system"), binding(), "headwater.dev/owner"],
  ["bind itself in a labelled kube namespace", "operator", "POST", bindings("kube-labelled"), binding(), "headwater.dev/owner"],
  ["bind itself in a namespace without an owner", "operator", "POST", bindings("team-a"), binding(), "headwater.dev/owner"],
  ["bind itself in the namespace of the release", "operator", "POST", bindings("headwater"), binding(), "headwater.dev/owner"],
  ["bind cluster-admin", "operator", "POST", bindings("headwater-default"), binding({ role: "cluster-admin" }), "forbidden"],
  ["bind a user", "operator", "POST", bindings("headwater-default"), binding({ subject: user }), "its own"],
  [
    "bind an account of another namespace",
    "operator",
    "POST",
    bindings("headwater-default"),
    binding({ subject: { namespace: "team-a" } }),
    "its own",
  ],
  ["bind under another name", "operator", "POST", bindings("headwater-default"), binding({ name: "eve" }), "its own"],
  ["bind itself in an owner's namespace", "api", "POST", bindings("headwater-default"), bindingOfApi(), "forbidden"],
];

const secretOf = (name: string): string => `${ownerSecrets()}/${name}`;
const label = { metadata: { labels: { stolen: "yes" } } };
const mark = { metadata: { labels: { "app.kubernetes.io/managed-by": "headwater" }, annotations: { "headwater.dev/kept-as": "theirs" } } };
const onlyItsOwn = "only Secrets with its annotation";

/** `stored` is Headwater's, `copied` a copy of it by its owner, `theirs` the owner's own Secret. */
const secretsOfOwners: readonly Case[] = [
  ["store a secret text", "api", "POST", ownerSecrets(), stored("new")],
  ["create another Secret", "api", "POST", ownerSecrets(), secret("eve"), onlyItsOwn],
  ["read a Secret", "api", "GET", secretOf("stored"), undefined, "forbidden"],
  ["read the owner's Secret", "api", "GET", secretOf("theirs"), undefined, "forbidden"],
  ["list Secrets", "api", "GET", ownerSecrets(), undefined, "forbidden"],
  ["read the owner's Secret by an empty patch", "api", "PATCH", secretOf("theirs"), {}, "forbidden"],
  ["change a Secret", "api", "PATCH", secretOf("stored"), label, "forbidden"],
  ["replace the owner's Secret", "api", "PUT", secretOf("theirs"), secret("theirs"), "forbidden"],
  ["delete a Secret", "api", "DELETE", secretOf("stored"), undefined, "forbidden"],
  ["delete the owner's Secret", "api", "DELETE", secretOf("theirs"), undefined, "forbidden"],
  ["delete all Secrets", "api", "DELETE", ownerSecrets(), undefined, "forbidden"],
  ["read a ConfigMap", "api", "GET", "/api/v1/namespaces/headwater-default/configmaps/kube-root-ca.crt", undefined, "forbidden"],
  ["store a secret text", "operator", "POST", ownerSecrets(), stored("new")],
  ["create another Secret", "operator", "POST", ownerSecrets(), secret("eve"), onlyItsOwn],
  ["change a stored Secret", "operator", "PATCH", secretOf("stored"), label],
  ["delete a stored Secret", "operator", "DELETE", secretOf("stored"), undefined],
  ["change the owner's Secret", "operator", "PATCH", secretOf("theirs"), label, onlyItsOwn],
  ["mark the owner's Secret as its own", "operator", "PATCH", secretOf("theirs"), mark, onlyItsOwn],
  ["delete the owner's Secret", "operator", "DELETE", secretOf("theirs"), undefined, onlyItsOwn],
  ["change a copy", "operator", "PATCH", secretOf("copied"), label, onlyItsOwn],
  ["delete a copy", "operator", "DELETE", secretOf("copied"), undefined, onlyItsOwn],
];

const bindingOf = (inNamespace: string, name: string): string => `${bindings(inNamespace)}/${name}`;
const removals: readonly Case[] = [
  ["delete the API's RoleBinding of an earlier release", "operator", "DELETE", bindingOf("headwater-default", "headwater-api"), undefined],
  ["delete its own RoleBinding", "operator", "DELETE", bindingOf("headwater-default", "headwater-operator"), undefined, "forbidden"],
  ["delete a RoleBinding of the owner", "operator", "DELETE", bindingOf("headwater-default", "theirs"), undefined, "forbidden"],
  [
    "delete the owner's RoleBinding of that name",
    "operator",
    "DELETE",
    bindingOf("kube-labelled", "headwater-api"),
    undefined,
    "earlier release",
  ],
  ["delete such a RoleBinding elsewhere", "operator", "DELETE", bindingOf("team-a", "headwater-api"), undefined, "earlier release"],
];

const namespaces: readonly Case[] = [
  ["create the namespace of an owner", "api", "POST", "/api/v1/namespaces", owned("hw-u-eve00001")],
  ["create a namespace of any name", "api", "POST", "/api/v1/namespaces", owned("kube-eve"), "named after the owner"],
  ["create the namespace of another owner", "api", "POST", "/api/v1/namespaces", owned("hw-u-bob00001"), "named after the owner"],
  [
    "create a namespace for privileged pods",
    "api",
    "POST",
    "/api/v1/namespaces",
    owned("hw-u-eve00001", { "pod-security.kubernetes.io/enforce": "privileged" }),
    "restricted",
  ],
  [
    "label a namespace",
    "api",
    "PATCH",
    "/api/v1/namespaces/team-a",
    { metadata: { labels: { "headwater.dev/owner": "u_eve" } } },
    "forbidden",
  ],
  ["label a namespace", "operator", "PATCH", "/api/v1/namespaces/team-a", { metadata: { labels: { x: "y" } } }, "forbidden"],
  ["create a source of an owner", "api", "POST", sources("headwater-default"), source("eve")],
  ["create a source in a namespace without an owner", "api", "POST", sources("team-a"), source("eve"), "only in namespaces with the label"],
];

const ofRelease: readonly Case[] = [
  ["create the Secret of a pool", "operator", "POST", `${release}/secrets`, kindOf("Secret")],
  ["read the Secret of a pool", "operator", "PATCH", `${release}/secrets/headwater-runner-there`, {}],
  ["read the keys of the installation", "operator", "GET", `${release}/secrets/headwater-keys`, undefined, "forbidden"],
  ["read the keys by an empty patch", "operator", "PATCH", `${release}/secrets/headwater-keys`, {}, "only the objects of runner pools"],
  ["delete the keys", "operator", "DELETE", `${release}/secrets/headwater-keys`, undefined, "only the objects of runner pools"],
  ["create a token of another account", "operator", "POST", `${release}/secrets`, secret("", tokenOf("headwater-create-secrets")), "token"],
  ["create a token in an owner's namespace", "api", "POST", ownerSecrets(), secret("", tokenOf("default")), "token"],
  ["create a Secret of the installation", "create-secrets", "POST", `${release}/secrets`, secret("headwater-api")],
  [
    "create any Secret",
    "create-secrets",
    "POST",
    `${release}/secrets`,
    secret("sh.helm.release.v1.x"),
    "only the Secrets of the installation",
  ],
  ["create the Secret of a pool", "create-secrets", "POST", `${release}/secrets`, secret("headwater-runner-x"), "only the Secrets of"],
  ["delete the Deployment of the API", "operator", "DELETE", `${deployments}/headwater-api`, undefined, "only the objects of runner pools"],
  [
    "take the place of the NetworkPolicy of Postgres",
    "operator",
    "DELETE",
    "/apis/networking.k8s.io/v1/namespaces/headwater/networkpolicies/headwater-postgres",
    undefined,
    "only the objects of runner pools",
  ],
  [
    "open the network of all pods",
    "operator",
    "POST",
    "/apis/networking.k8s.io/v1/namespaces/headwater/networkpolicies",
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "headwater-runner-x" },
      spec: { podSelector: {}, ingress: [{}] },
    },
    "only for runner pods",
  ],
];

function ownerSecrets(): string {
  return "/api/v1/namespaces/headwater-default/secrets";
}

const pods: readonly (readonly [what: string, body: object, refusal?: string])[] = [
  ["run a runner", deployment],
  ["run a pod under another name", renamed(deployment, "headwater-eve"), "denied request"],
  ["run as another ServiceAccount", withPod(() => ({ serviceAccountName: "headwater-create-secrets" })), "its pool's ServiceAccount"],
  ["mount a token", withPod(() => ({ automountServiceAccountToken: true })), "without a token"],
  ["use the network of the host", withPod(() => ({ hostNetwork: true })), "no namespace of its host"],
  ["see the processes of the host", withPod(() => ({ hostPID: true })), "no namespace of its host"],
  ["mount the disk of the host", withVolume({ name: "host", hostPath: { path: "/" } }), "mounts only"],
  ["mount the keys", withVolume({ name: "keys2", secret: { secretName: "headwater-keys" } }), "mounts only"],
  ["project a token", withVolume({ name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }), "mounts only"],
  ["run another image", withContainer({ image: "eve.example/tool:1" }), "image of the release"],
  ["run a shell", withContainer({ command: ["sh"] }), "entry point"],
  [
    "read a Secret into a setting",
    withContainer({ env: [{ name: "X", valueFrom: { secretKeyRef: { name: "headwater-keys", key: "x" } } }] }),
    "entry point",
  ],
  ["run a privileged container", withContainer({ securityContext: { privileged: true } }), "not privileged"],
  ["run as root", withSecurity({ runAsUser: 0, runAsNonRoot: false }), "not privileged"],
  ["run a pod as root", withPod(() => ({ securityContext: { runAsNonRoot: true, runAsUser: 0 } })), "not privileged"],
  ["call any function of the kernel", withSecurity({ seccompProfile: { type: "Unconfined" } }), "not privileged"],
  ["listen on the host", withContainer({ ports: [{ containerPort: 8081, hostPort: 443 }] }), "no port of its host"],
  ["choose a node", withPod(() => ({ nodeName: "control-plane" })), "placed by the scheduler"],
  ["run code of a setting", withContainer({ env: [{ name: "NODE_OPTIONS", value: "--import=data:text/javascript," }] }), "entry point"],
  ["load a library", withContainer({ env: [{ name: "LD_PRELOAD", value: "/data/eve.so" }] }), "entry point"],
  ["run a second container", withPod(({ containers }) => ({ containers: [...containers, { name: "eve", image }] })), "one container"],
  ["run an init container", withPod(() => ({ initContainers: [{ name: "eve", image }] })), "one container"],
  ["run no sandbox", withPod(() => ({ initContainers: [] })), "one container"],
  ["run the sandbox before the runner only", withSandbox({ restartPolicy: undefined, livenessProbe: undefined }), "one container"],
  [
    "mount the pool's Secret into the sandbox",
    withSandbox({ volumeMounts: [{ name: "keys", mountPath: "/keys", readOnly: true }] }),
    "mounts no keys",
  ],
  ["let the sandbox write bundles", withSandbox({ volumeMounts: [{ name: "data", mountPath: "/data" }] }), "nothing that it could write"],
  ["run another image as the sandbox", withSandbox({ image: "eve.example/tool:1" }), "image of the release"],
  ["run a shell as the sandbox", withSandbox({ command: ["sh"] }), "entry point"],
  ["run another role as the sandbox", withSandbox({ env: [{ name: "HEADWATER_ROLES", value: "runner" }] }), "without settings of NATS"],
  [
    "give the sandbox an address of NATS",
    withSandbox({
      env: [
        { name: "HEADWATER_ROLES", value: "sandbox" },
        { name: "NATS_URL", value: "nats://nats:4222" },
      ],
    }),
    "without settings of NATS",
  ],
  ["run the sandbox as the user of the runner", sandboxSecurity({ runAsUser: 65_532 }), "a user of its own"],
  ["run the sandbox as root", sandboxSecurity({ runAsUser: 0 }), "a user of its own"],
  ["run a privileged sandbox", sandboxSecurity({ privileged: true, allowPrivilegeEscalation: true }), "not privileged"],
  ["give the sandbox a capability", sandboxSecurity({ capabilities: { drop: ["ALL"], add: ["SYS_PTRACE"] } }), "not privileged"],
  ["listen on the host as the sandbox", withSandbox({ ports: [{ containerPort: 1, hostPort: 443 }] }), "no port of its host"],
  ["see the runner's processes from the sandbox", withPod(() => ({ shareProcessNamespace: true })), "no processes of each other"],
];

/** Requests of an attacker who has taken over the operator, the API or the Job of the Secrets. */
export function describeAttacks(kube: KubeApi): void {
  describe("an account of the chart that was taken over", () => {
    beforeAll(async () => {
      await namespace(kube, "kube-labelled", { "headwater.dev/owner": "u_eve00002" });
      for (const name of ["headwater-keys", "headwater-runner-there"]) await kube.client.create(`${release}/secrets`, secret(name));
      // As of an earlier release, for another account: the API must not have its rights here.
      const former = binding({ name: "headwater-api", account: "any" });
      for (const object of [binding(), bindingOfApi(), former, binding({ name: "theirs", account: "any" })])
        await kube.client.create(bindings("headwater-default"), object);
      await kube.client.create(bindings("kube-labelled"), binding({ name: "headwater-api", account: "any", role: "view" }));
      await kube.client.create(bindings("team-a"), former);
      for (const object of [stored("stored"), stored("copied", "stored"), secret("theirs")])
        await kube.client.create(ownerSecrets(), object);
      // The server enforces a policy, and grants the rights of a RoleBinding, a moment after it is created.
      await vi.waitFor(
        async () => {
          for (const account of ["operator", "api"] as const)
            expect(await requestAs(kube, account, "POST", ownerSecrets(), secret("eve"))).toContain(onlyItsOwn);
          expect(await requestAs(kube, "operator", "DELETE", bindingOf("team-a", "headwater-api"))).toContain("earlier release");
        },
        { timeout: 60_000, interval: 100 },
      );
    });

    it.each(named([...secretsOfOwners, ...removals]))("$account, $verdict: $what", async ({ account, method, path, body, refusal }) => {
      const verdict = await requestAs(kube, account, method, path, body);
      expect(verdict).toContain(refusal ?? "allowed");
    });

    it.each(named([...namespaces, ...ofRelease]))("$account, $verdict: $what", async ({ account, method, path, body, refusal }) => {
      const verdict = await requestAs(kube, account, method, path, body);
      expect(verdict).toContain(refusal ?? "allowed");
    });

    it.each(named(rightsOfOwners))("$account, $verdict: $what", async ({ account, method, path, body, refusal }) => {
      const { metadata } = body as ReturnType<typeof binding>; // All of these requests are RoleBindings.
      await kube.client.request("DELETE", `${bindings("headwater-default")}/${metadata.name}`);
      const verdict = await requestAs(kube, account, method, path, body);
      expect(verdict).toContain(refusal ?? "allowed");
    });

    it.each(pods.map(([what, body, refusal]) => ({ what, body, refusal })))("operator: $what", async ({ body, refusal }) => {
      const verdict = await requestAs(kube, "operator", "POST", deployments, body);
      expect(verdict).toContain(refusal ?? "allowed");
    });

    it("scales the runners of the previous release during an upgrade", async () => {
      const old = {
        ...(withContainer({ image: "headwater:before" }) as Deployment),
        metadata: { ...deployment.metadata, name: "headwater-runner-old" },
      };
      const { initContainers: _, ...before } = old.spec.template.spec; // There was one container.
      const pod = { ...before, serviceAccountName: "headwater-runner-old", volumes: [] };
      await kube.client.create(deployments, {
        ...old,
        spec: { ...old.spec, template: { ...old.spec.template, spec: { ...pod, containers: withoutMounts(pod) } } },
      });
      const path = `${deployments}/headwater-runner-old`;
      expect(await requestAs(kube, "operator", "PATCH", path, { spec: { replicas: 3 } })).toBe("allowed");
    });
  });
}

const withoutMounts = ({ containers }: Pick<PodSpec, "containers">): readonly object[] =>
  containers.map((container) => ({ ...container, volumeMounts: [] }));
