import { testHostileCalls } from "./operations-fuzz.ts";

testHostileCalls(1);
