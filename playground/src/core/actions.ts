/** Groups acting on finite sets: table[g][y] is g(y), and the Cayley table of the group. */

export interface Action {
  name: string;
  table: number[][];
  product: number[][]; // "first h, then g" in row g, column h
  simple: boolean; // simply transitive: one action leads from each value to each other
}

export const ACTIONS = ["C2", "C3", "C4", "C5", "C6", "C7", "C8", "D4", "S3", "A4", "S4", "S5"] as const;

function permutations(points: number): number[][] {
  if (points === 0) return [[]];
  const found: number[][] = [];
  const extend = (begun: number[]): void => {
    if (begun.length === points) found.push(begun);
    else for (let next = 0; next < points; next++) if (!begun.includes(next)) extend([...begun, next]);
  };
  extend([]);
  return found;
}

function even(row: number[]): boolean {
  let inversions = 0;
  for (let i = 0; i < row.length; i++) for (let j = i + 1; j < row.length; j++) if (row[i] > row[j]) inversions++;
  return inversions % 2 === 0;
}

const known = new Map<string, Action>();

/** Made once: S5's Cayley table has 14,400 entries. */
export function actionNamed(name: string): Action {
  const action = known.get(name) ?? made(name);
  known.set(name, action);
  return action;
}

function made(name: string): Action {
  const family = name[0];
  const points = Number(name.slice(1));
  const all = Array.from({ length: points }, (_, i) => i);
  let table: number[][];
  if (family === "C") table = all.map((turn) => all.map((value) => (value + turn) % points));
  else if (family === "D") {
    const turned = all.map((turn) => all.map((corner) => (corner + turn) % points));
    table = [...turned, ...all.map((turn) => all.map((corner) => (turn - corner + points) % points))];
  } else table = permutations(points).filter((row) => family === "S" || even(row));
  const place = new Map(table.map((row, index) => [row.join(), index]));
  const product = table.map((g) => table.map((h) => place.get(h.map((value) => g[value]).join()) ?? NaN)); // closed: always there
  return { name, table, product, simple: table.length === points };
}
