interface Row {
  /** `release`: its namespace alone. */
  readonly where: "everywhere" | "release";
  readonly resources: readonly string[];
  readonly roles: Readonly<Record<string, string>>;
}

export const accounts = ["operator", "api", "create-secrets", "ingress", "delivery", "builder", "setup"] as const;

const kinds = [
  "accounts",
  "apps",
  "autosubscriptions",
  "components",
  "datastores",
  "oauthclients",
  "sources",
  "subscriptions",
  "variables",
  "webhooks",
  "workflows",
];
const allKinds = [...kinds, "runnerpools"];
const ownKinds = (names: readonly string[], subresource = ""): readonly string[] =>
  names.map((name) => `${name}${subresource}.headwater.dev`);
const except = (...names: readonly string[]): readonly string[] => ownKinds(kinds.filter((kind) => !names.includes(kind)));

const everywhere = (resources: string | readonly string[], roles: Row["roles"]): Row => ({
  where: "everywhere",
  resources: [resources].flat(),
  roles,
});
const inRelease = (resources: string | readonly string[], roles: Row["roles"]): Row => ({
  ...everywhere(resources, roles),
  where: "release",
});

/** Secrets of the installation, which `create-secrets` fills. */
const installed = ["keys", "nats", "postgres", "api-key", "api", "ingress", "delivery", "builder", "operator", "setup", "backup"]
  .map((name) => `headwater-${name}`)
  .join();
const ownerRoles = "headwater-owner-secrets,headwater-owner-secrets-api,headwater-owner-backup";

/**
 * What each role of the chart may do in Kubernetes, as `verb` or `verb(names)`. A role that is not named may do nothing with the resource.
 * `operator`, `api`, `backup` and `create-secrets` are bound to ServiceAccounts of their name. The operator binds `owner-…` in namespaces of owners.
 * `view` and `edit` are for people, `admin` is bound by administrators. The ServiceAccounts `ingress`, `delivery`, `builder` and `setup` have no role.
 */
const rows: readonly Row[] = [
  everywhere(ownKinds(allKinds), { operator: "get list watch update", backup: "list" }),
  everywhere(ownKinds(kinds), {
    api: "get list create delete",
    view: "get list watch",
    edit: "create update patch delete deletecollection",
  }),
  everywhere(except("accounts", "apps", "datastores", "oauthclients", "webhooks"), { api: "watch" }),
  everywhere(except("autosubscriptions", "components"), { api: "update" }),
  everywhere(ownKinds(["components", "subscriptions", "runnerpools"]), { operator: "create" }),
  everywhere(ownKinds(["components", "subscriptions"]), { operator: "delete" }),
  everywhere(ownKinds(allKinds, "/status"), { operator: "patch" }),
  everywhere(ownKinds(allKinds, "/finalizers"), { operator: "update" }),
  everywhere("owners.headwater.dev", { admin: "assign" }),
  everywhere("labels.headwater.dev", { admin: "set" }),
  everywhere("namespaces", { operator: "list watch", api: "get list watch create", backup: "list" }),
  everywhere("events.events.k8s.io", { operator: "create patch" }),
  everywhere("rolebindings.rbac.authorization.k8s.io", { operator: "list watch create update delete(headwater-api)" }),
  everywhere("clusterroles.rbac.authorization.k8s.io", { operator: `bind(${ownerRoles})` }),
  everywhere("secrets", { "owner-secrets": "get list create patch delete", "owner-secrets-api": "create", "owner-backup": "list" }),
  everywhere("configmaps", { "owner-secrets": "get", "owner-backup": "list" }),
  inRelease("secrets", { operator: "create patch delete", "create-secrets": `create get(${installed}) update(${installed})` }),
  inRelease("configmaps", { operator: "get(headwater-runner-pods)" }),
  inRelease("leases.coordination.k8s.io", { operator: "create get(headwater-operator) update(headwater-operator)" }),
  inRelease(["deployments.apps", "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy", "serviceaccounts"], {
    operator: "list watch create patch delete",
  }),
  inRelease("pods", { operator: "list watch" }),
];

export interface KubernetesRight {
  readonly role: string;
  readonly where: Row["where"];
  readonly verb: string;
  readonly resource: string;
  /** Of objects; absent: all. */
  readonly names?: readonly string[];
}

/** Each right of each role, with backups enabled. */
export const kubernetesRights: readonly KubernetesRight[] = rows.flatMap(({ where, resources, roles }) =>
  resources.flatMap((resource) =>
    Object.entries(roles).flatMap(([role, verbs]) =>
      verbs.split(" ").map((text): KubernetesRight => {
        const [, verb = "", names] = /^(\w+)(?:\((.*)\))?$/.exec(text) ?? [];
        return { role, where, verb, resource, ...(names === undefined ? {} : { names: names.split(",") }) };
      }),
    ),
  ),
);

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[] | undefined;
}

/** Each right of RBAC rules. */
export const rightsOfRules = (role: string, where: Row["where"], rules: readonly Rule[]): readonly KubernetesRight[] =>
  rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({
          role,
          where,
          verb,
          resource: group === "" ? resource : `${resource}.${group}`,
          ...(resourceNames === undefined ? {} : { names: resourceNames }),
        })),
      ),
    ),
  );

/** RBAC rules that grant a role its rights. */
export const rulesOf = (of: string, inside: Row["where"]): readonly Rule[] =>
  kubernetesRights.flatMap(({ role, where, verb, resource, names }) => {
    if (role !== of || where !== inside) return [];
    const [name = "", ...group] = resource.split(".");
    return [{ apiGroups: [group.join(".")], resources: [name], verbs: [verb], ...(names === undefined ? {} : { resourceNames: names }) }];
  });

/** `<role>[ in release]: <verb> <resource>` */
export const describeRight = ({ role, where, verb, resource }: Omit<KubernetesRight, "names">): string =>
  `${role}${where === "release" ? " in release" : ""}: ${verb} ${resource}`;

const createsByApply = "server-side apply is logged as patch, and needs both rights";

/** Rights that no request of the roles shows, with the reason. */
export const unloggedRights: Readonly<Record<string, string>> = {
  "operator: bind clusterroles.rbac.authorization.k8s.io": "checked without a request when a RoleBinding is created",
  "operator: patch events.events.k8s.io": "used when an event of a resource is recorded again",
  "api: get namespaces": "used when another process has just created the namespace of an owner",
  "api: update subscriptions.headwater.dev": "used when a member with subscriptions leaves an organization",
  "admin: assign owners.headwater.dev": "a policy asks the authorizer whether a user has it",
  "admin: set labels.headwater.dev": "a policy asks the authorizer whether a user has it",
  ...Object.fromEntries(
    ["deployments.apps", "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy", "secrets", "serviceaccounts"].map(
      (resource) => [`operator in release: create ${resource}`, createsByApply],
    ),
  ),
};
