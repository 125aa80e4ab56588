/** Something that was accepted and was probably meant otherwise. Answers carry it beside `data`. */
export interface Warning {
  /** Stable, snake_case. */
  readonly code: string;
  /** What was found, and what would be right. */
  readonly message: string;
  /** Where: a field of the request, or a place in the component's definition such as `props.count.default`. */
  readonly path: string;
}
