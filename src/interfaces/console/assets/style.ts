import { controls } from "./style/controls";
import { frame } from "./style/frame";
import { story } from "./style/story";
import { tables } from "./style/tables";
import { tokens } from "./style/tokens";

/** Plain CSS, by what it is about. */
export const style = [tokens, frame, tables, controls, story].join("\n");
