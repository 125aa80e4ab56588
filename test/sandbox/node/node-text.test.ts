import { testSubjects } from "./node-differential.ts";
import { textSubjects } from "./text-subjects.ts";

testSubjects(textSubjects, 1 / 10);
