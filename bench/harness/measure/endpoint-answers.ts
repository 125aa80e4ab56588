import type { Answer } from "../baseline/raw-http.ts";

/**
 * The path selects how an endpoint behaves: `/slow/<ms>/…` accepts that late, `/flapping/<ms>/…` refuses and accepts in turns of that
 * length, `/down/…` refuses until it is switched on, everything else accepts at once.
 */
export function endpointAnswers(now: () => number): { readonly answerTo: (path: string) => Answer | undefined; up(): void } {
  let isUp = false;
  const refused: Answer = { status: 503, afterMs: 0 };
  return {
    answerTo: (path) => {
      const [, kind, argument] = path.split("/");
      if (kind === "slow") return { status: 200, afterMs: Number(argument) };
      if (kind === "flapping") return Math.floor(now() / Number(argument)) % 2 === 0 ? refused : undefined;
      return kind === "down" && !isUp ? refused : undefined;
    },
    up: () => (isUp = true),
  };
}
