import { integerArgument } from "./arguments.ts";
import type { OperationContext } from "./context.ts";

/** Work that takes several calls of the guest, by number. It lives as long as the isolate. */
export interface Handles<Work> {
  /** Throws `ERR_CRYPTO_INVALID_STATE` for a number that is not open. */
  get(id: unknown): Work;
  /** @returns its number, from 1 */
  open(work: Work): number;
  close(id: unknown): void;
}

interface State<Work> {
  last: number;
  readonly open: Map<number, Work>;
}

const maxOpen = 200;

/** Opening more than {@link maxOpen} closes the oldest: a guest that never finishes its work must not fill the host's memory. */
export function handlesOf<Work>(context: OperationContext, name: string): Handles<Work> {
  const known = context.state.get(name) as State<Work> | undefined; // only written below
  const state = known ?? { last: 0, open: new Map<number, Work>() };
  if (known === undefined) context.state.set(name, state);
  return {
    get(id) {
      const work = state.open.get(integerArgument(id, "id", 1, Number.MAX_SAFE_INTEGER));
      if (work === undefined) throw Object.assign(new Error("the operation is finished"), { code: "ERR_CRYPTO_INVALID_STATE" });
      return work;
    },
    open(work) {
      const [oldest] = state.open.keys();
      if (state.open.size >= maxOpen && oldest !== undefined) state.open.delete(oldest);
      state.last += 1;
      state.open.set(state.last, work);
      return state.last;
    },
    close: (id) => void state.open.delete(Number(id)),
  };
}
