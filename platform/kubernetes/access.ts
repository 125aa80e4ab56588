/** Where a Kubernetes API is and what opens it. */
export interface ClusterAccess {
  /** Base address without trailing slash. */
  readonly server: string;
  /** Our pod's namespace, or that of the kubeconfig's context; `default` when neither says. */
  readonly namespace: string;
  /** Address of an HTTP proxy on the way. */
  readonly proxyUrl?: string;
  /** Headers of every request besides authorization, such as impersonation. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Cheap: asked for before every request. `renew`: what was given before has just been refused. */
  credentials(renew: boolean): Promise<Credentials>;
}

export interface Credentials {
  /** Value of the header. */
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
