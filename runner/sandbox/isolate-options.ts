import type { Egress } from "./operations/index.ts";
import type { OwnerSlots } from "./owner-slots.ts";
import type { Prelude } from "./prelude.ts";

export interface IsolateOptions {
  readonly prelude: Prelude;
  readonly needsNode: boolean;
  readonly memoryMb: number;
  readonly egress: Egress;
  readonly slots: OwnerSlots;
  /** The process must be replaced: V8 ran out of memory for good, or something in it cannot be interrupted. */
  readonly onPoisoned: (reason: string) => void;
}
