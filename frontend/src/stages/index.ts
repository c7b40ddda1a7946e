import type { Stage } from "../protocol";
import { coverage } from "./coverage";
import { drawing } from "./drawing";
import { links } from "./links";
import { quality } from "./quality";
import { requirement } from "./requirement";
import type { StageView } from "./stage";
import { verification } from "./verification";

/** The view of each stage. */
export const STAGES: Readonly<Record<Stage, StageView>> = {
  links,
  verification,
  requirement,
  drawing,
  quality,
  coverage,
};
