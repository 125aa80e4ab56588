import { testVerifiers } from "./verifier-tests.ts";
import { languages } from "./verifiers.ts";

// The first language is that of webhooks-docs.test.ts.
testVerifiers(languages.slice(1));
