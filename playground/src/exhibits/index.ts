/** The exhibits, in the order of the page. */
import { kimSuzuki } from "./kim_suzuki";
import { lego } from "./lego";
import { logIcot } from "./log_icot";
import { rlSft } from "./rl_sft";
import type { Exhibit } from "./types";

export const LIST: Exhibit[] = [logIcot, rlSft, kimSuzuki, lego];
export const EXHIBITS: Record<string, Exhibit> = Object.fromEntries(LIST.map((exhibit) => [exhibit.slug, exhibit]));
