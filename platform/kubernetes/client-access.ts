import type { Cluster, User } from "@kubernetes/client-node";
import { InvalidInput } from "../../domain/errors.ts";
import type { ClusterAccess } from "./access.ts";
import { createCredentials } from "./client-credentials.ts";

/** One cluster and one user, as client-node has read them. */
export interface ClientEntry {
  readonly cluster: Cluster;
  readonly user: User;
  readonly namespace?: string | undefined;
  /** To act with, besides the user to act as. */
  readonly groups?: readonly string[] | undefined;
}

/** @throws InvalidInput when the cluster's addresses are none */
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
  if (url === null || !/^https?:$/.test(url.protocol)) throw invalid("its server is no http or https address");
  // client-node refuses it as well, at the first request: credentials are not to travel in the clear by mistake.
  if (url.protocol === "http:" && !skipTLSVerify) throw invalid("its server is http: set insecure-skip-tls-verify if that is meant");
  if (proxyUrl && URL.parse(proxyUrl) === null) throw invalid("its proxy-url is no address"); // Not repeated: it may hold a password.
}

const invalid = (why: string): InvalidInput =>
  new InvalidInput(`the access to the Kubernetes cluster cannot be used: ${why}`, { code: "invalid_kubeconfig" });
