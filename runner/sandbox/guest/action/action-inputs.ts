/** What an action gets besides its props, see `ActionRequest` of the host. */
export interface ActionInputs {
  /** JSON texts. */
  readonly steps: string;
  readonly context: string;
  readonly resumeUrl: string;
  readonly cancelUrl: string;
  readonly filesUrl?: string;
  /** Of variables that expressions may read. */
  readonly variables: string;
  readonly secretProps: readonly string[];
}
