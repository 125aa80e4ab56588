/** A probable mistake in an accepted request. Responses have it beside `data`. */
export interface Warning {
  /** Stable, snake_case. */
  readonly code: string;
  /** What was found, and how to fix it. */
  readonly message: string;
  /** Where: a field of the request, or a path in the component's definition such as `props.count.default`. */
  readonly path: string;
}
