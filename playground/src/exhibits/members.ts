/** The exhibits, in the order of the page. */
import { logIcot } from "./log_icot";
import type { Exhibit } from "./types";

export const LIST: Exhibit[] = [logIcot];
export const EXHIBITS: Record<string, Exhibit> = Object.fromEntries(LIST.map((exhibit) => [exhibit.slug, exhibit]));
