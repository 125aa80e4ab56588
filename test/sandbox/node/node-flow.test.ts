import { testSubjects } from "./node-differential.ts";
import { flowSubjects } from "./flow-subjects.ts";

testSubjects(flowSubjects, 1 / 10);
