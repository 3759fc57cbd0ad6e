import { Head } from "../ui/Head";

export function LoginPage() {
  return <Head title="Login" />;
}
