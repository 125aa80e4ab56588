/** Where user code may connect to: names are resolved here, once, and the caller connects to an address it was given. */
export interface Egress {
  /**
   * Addresses of a host name or literal, every one allowed. Rejects with `code` `ERR_EGRESS_DENIED` when any is not,
   * `ENOTFOUND` when there is none.
   */
  lookup(host: string): Promise<readonly EgressAddress[]>;
}

export interface EgressAddress {
  readonly address: string;
  readonly family: 4 | 6;
}
