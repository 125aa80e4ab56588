import type { Cluster, User } from "@kubernetes/client-node";
import { InvalidInput } from "../../../domain/errors.ts";
import type { ClusterAccess } from "./access.ts";
import { createCredentials } from "./client-credentials.ts";

/** One cluster and one user, as read by client-node. */
export interface ClientEntry {
  readonly cluster: Cluster;
  readonly user: User;
  readonly namespace?: string | undefined;
  /** Groups to impersonate along with the user. */
  readonly groups?: readonly string[] | undefined;
}

/** @throws InvalidInput when a URL of the cluster is invalid */
export function createClientAccess({ cluster, user, namespace, groups }: ClientEntry): ClusterAccess {
  check(cluster);
  const as = user.impersonateUser;
  return {
    server: cluster.server.replace(/\/+$/, ""),
    namespace: namespace?.trim() || "default",
    ...(cluster.proxyUrl ? { proxyUrl: cluster.proxyUrl } : {}),
    headers: as ? { "impersonate-user": as, ...(groups === undefined ? {} : { "impersonate-group": [...groups] }) } : {},
    credentials: createCredentials(cluster, user),
  };
}

function check({ server, proxyUrl, skipTLSVerify }: Cluster): void {
  const url = URL.parse(server);
  if (url === null || !/^https?:$/.test(url.protocol)) throw invalid("its server is not an http or https URL");
  // client-node also refuses it, at the first request: credentials must not be sent in clear text by mistake.
  if (url.protocol === "http:" && !skipTLSVerify)
    throw invalid("its server is http: use https, or set insecure-skip-tls-verify if http is intended");
  if (proxyUrl && URL.parse(proxyUrl) === null) throw invalid("its proxy-url is not a URL"); // The message omits it: it may contain a password.
}

const invalid = (why: string): InvalidInput =>
  new InvalidInput(`the access to the Kubernetes cluster cannot be used: ${why}`, { code: "invalid_kubeconfig" });
