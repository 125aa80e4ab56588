import { expectTypeOf, it } from "vitest";
import type { EmailEvent } from "../../domain/invocation/email-event.ts";
import type * as domain from "../../domain/invocation/invocation.ts";
import type * as types from "../../types/events.ts";

/**
 * `headwater/types` depends on nothing, so that compilers of other people's projects can read it: it says again what `run` receives.
 * Method: the compiler compares both, whenever it checks this repository; what runs here compares nothing.
 */
it("declares the same events that the product creates", () => {
  expectTypeOf<types.HttpEvent>().toEqualTypeOf<domain.HttpEvent>();
  expectTypeOf<types.EmailEvent>().toEqualTypeOf<EmailEvent>();
  expectTypeOf<types.TimerEvent>().toEqualTypeOf<domain.TimerEvent>();
});
