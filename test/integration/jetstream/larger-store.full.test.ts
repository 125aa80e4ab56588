import { it } from "vitest";
import { expectRaisedLimits } from "./larger-store.ts";

it("setup raises the limits of streams once three servers have restarted with a larger store, and not before", () => expectRaisedLimits(3));
