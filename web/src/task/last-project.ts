// The project that the last task was made in, for a task that is made on the page of all projects.

const KEY = "forge.lastProject";

export const lastProject = (): string | null => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
};

export function rememberProject(id: string) {
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // A browser that keeps nothing only forgets.
  }
}
