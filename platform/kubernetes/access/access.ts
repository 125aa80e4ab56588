/** How to reach and authenticate to a Kubernetes API. */
export interface ClusterAccess {
  /** Base URL without trailing slash. */
  readonly server: string;
  /** Namespace of our pod or of the kubeconfig's context; otherwise `default`. */
  readonly namespace: string;
  /** URL of an HTTP proxy. */
  readonly proxyUrl?: string;
  /** Headers of every request besides authorization, such as impersonation. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Called before every request, so it is cheap. `renew`: the previous credentials have just been rejected. */
  credentials(renew: boolean): Promise<Credentials>;
}

export interface Credentials {
  /** Value of the Authorization header. */
  readonly authorization?: string;
  readonly tls: TlsMaterial;
}

/** PEM. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly insecure?: boolean;
}
