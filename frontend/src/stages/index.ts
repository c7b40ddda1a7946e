import type { Stage } from "../protocol";
import { coverage } from "./coverage";
import { drawing } from "./drawing";
import { links } from "./links";
import { quality } from "./quality";
import { requirement } from "./requirement";
import type { StageView } from "./stage";
import { verification } from "./verification";

/** What each stage shows and takes. */
export const STAGES: Readonly<Record<Stage, StageView>> = {
  links,
  verification,
  requirement,
  drawing,
  quality,
  coverage,
};
