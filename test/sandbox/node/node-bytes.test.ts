import { testSubjects } from "./node-differential.ts";
import { bytesSubjects } from "./bytes-subjects.ts";

testSubjects(bytesSubjects, 1 / 10);
