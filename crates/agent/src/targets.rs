//! Whom a server calls on behalf of strangers. An address that an agent gives is a request to
//! connect to it, and must not open what lies behind our own walls.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use crate::address::{Address, Host};

/// Which addresses may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Targets {
    reach: Reach,
    networks: Vec<Network>,
    places: Vec<SocketAddr>,
    own: Vec<SocketAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Everything that is a single machine.
    Everywhere,
    /// What the whole internet may call too.
    Public,
}

/// Why an address is not called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// It is one of our own.
    #[error("{0} is our own address")]
    Own(SocketAddr),
    /// It lies behind our walls, and nobody listed its network.
    #[error("{0} is a private, loopback or link-local address, and its network is not listed")]
    Inside(IpAddr),
    /// It is no single machine.
    #[error("{0} is not the address of one machine")]
    NotAMachine(IpAddr),
}

impl Targets {
    /// Every machine. For agents that call only whom their owner named, and for servers that only
    /// this machine can reach.
    pub const fn everywhere() -> Self {
        Self::reaching(Reach::Everywhere)
    }

    const fn reaching(reach: Reach) -> Self {
        Self { reach, networks: Vec::new(), places: Vec::new(), own: Vec::new() }
    }

    /// Machines that the whole internet can call.
    pub const fn public() -> Self {
        Self::reaching(Reach::Public)
    }

    /// What a server that listens at `listening` may call: itself never; what is private only if
    /// nobody else can reach the server.
    pub fn of_server(listening: SocketAddr) -> Self {
        let is_loopback = listening.ip().to_canonical().is_loopback();
        let targets = if is_loopback { Self::everywhere() } else { Self::public() };
        targets.except(listening)
    }

    /// Allows `network` as well.
    #[must_use]
    pub fn and(mut self, network: Network) -> Self {
        self.networks.push(network);
        self
    }

    /// Allows this address with this port as well, and nothing else at that machine.
    #[must_use]
    pub fn and_at(mut self, place: SocketAddr) -> Self {
        self.places.push(place);
        self
    }

    /// Never calls `own`. If it stands for every address of this machine, its port is not called
    /// on loopback either; the machine's other addresses must be named one by one.
    #[must_use]
    pub fn except(mut self, own: SocketAddr) -> Self {
        self.own.push(SocketAddr::new(own.ip().to_canonical(), own.port()));
        self
    }

    /// Whether `target` may be called.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn check(&self, target: SocketAddr) -> Result<(), Forbidden> {
        let address = unwrapped(target.ip());
        if !is_machine(address) {
            return Err(Forbidden::NotAMachine(address));
        }
        if self.own.iter().any(|own| is_same(*own, SocketAddr::new(address, target.port()))) {
            return Err(Forbidden::Own(target));
        }
        let is_place = self.places.contains(&SocketAddr::new(address, target.port()));
        let is_listed = is_place || self.networks.iter().any(|network| network.contains(address));
        match self.reach {
            Reach::Public if is_inside(address) && !is_listed => Err(Forbidden::Inside(address)),
            Reach::Public | Reach::Everywhere => Ok(()),
        }
    }

    /// Whether a connection from `local` to `peer` may be used. A machine that calls one of its own
    /// addresses calls from that same address, which shows those that nobody has named.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn check_line(&self, local: SocketAddr, peer: SocketAddr) -> Result<(), Forbidden> {
        let is_home = local.ip().to_canonical() == peer.ip().to_canonical();
        let is_ours = |own: &SocketAddr| own.ip().is_unspecified() && own.port() == peer.port();
        if is_home && self.own.iter().any(is_ours) {
            return Err(Forbidden::Own(peer));
        }
        Ok(())
    }

    /// Whether `address` may be called as far as can be said without looking up its name. Whoever
    /// calls it must check what the name leads to.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn check_address(&self, address: &Address) -> Result<(), Forbidden> {
        let port = address.port();
        match address.host() {
            Host::Number(number) => self.check(SocketAddr::new(*number, port)),
            Host::Localhost => self.check(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)),
            Host::Name(_) => Ok(()),
        }
    }
}

/// The IPv4 address inside an IPv6 one, where routers and translators would use it as such.
fn unwrapped(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address.to_canonical() else { return address.to_canonical() };
    let high = |s: [u16; 8]| Ipv4Addr::from((u32::from(s[1]) << 16) | u32::from(s[2]));
    let low = |s: [u16; 8]| Ipv4Addr::from((u32::from(s[6]) << 16) | u32::from(s[7]));
    match v6.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => v6.into(),
        s @ ([0, 0, 0, 0, 0, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..]) => low(s).into(),
        s @ [0x2002, ..] => high(s).into(),
        _ => v6.into(),
    }
}

const fn is_machine(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !(v4.is_multicast() || v4.octets()[0] >= 240),
        IpAddr::V6(v6) => !v6.is_multicast(),
    }
}

/// Private, loopback, link-local, or of no meaning outside.
fn is_inside(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_documentation()
                || a == 0
                || (a == 100 && (64..128).contains(&b))
                || (a == 192 && b == 0 && c == 0)
                || (a == 198 && (18..20).contains(&b))
        }
        IpAddr::V6(v6) => {
            // Global addresses are 2000::/3; documentation and tunnels are carved out of them.
            let [a, b, ..] = v6.segments();
            a & 0xe000 != 0x2000 || (a == 0x2001 && (b == 0 || b == 0xdb8))
        }
    }
}

fn is_same(own: SocketAddr, target: SocketAddr) -> bool {
    let here = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    let same_host = own.ip() == target.ip() || (here(own.ip()) && target.ip().is_unspecified());
    let all_of_ours = own.ip().is_unspecified() && here(target.ip());
    own.port() == target.port() && (same_host || all_of_ours)
}

/// A network, such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// A text that is no network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a network such as 10.0.0.0/8 or fd00::/8")]
pub struct BadNetwork;

impl Network {
    /// Whether `address` is in this network.
    pub fn contains(&self, address: IpAddr) -> bool {
        masked(address.to_canonical(), self.bits) == Some(self.address)
    }
}

/// `address` with all but its first `bits` bits cleared; `None` if it does not have as many.
fn masked(address: IpAddr, bits: u8) -> Option<IpAddr> {
    let bits = u32::from(bits);
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32_u32.checked_sub(bits)?).unwrap_or(0);
            Some(Ipv4Addr::from(u32::from(v4) & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128_u32.checked_sub(bits)?).unwrap_or(0);
            Some(Ipv6Addr::from(u128::from(v6) & mask).into())
        }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let (address, bits) = text.split_once('/').ok_or(BadNetwork)?;
        let address: IpAddr = address.parse().map_err(|_| BadNetwork)?;
        let bits = bits.parse().map_err(|_| BadNetwork)?;
        // A network whose address has bits of a machine is a slip of somebody's pen.
        let clean = masked(address, bits) == Some(address);
        if clean { Ok(Self { address, bits }) } else { Err(BadNetwork) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(host: &str, port: u16) -> SocketAddr {
        SocketAddr::new(host.parse().unwrap(), port)
    }

    const INSIDE: [&str; 22] = [
        "127.0.0.1",
        "127.9.9.9",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "192.0.0.8",
        "198.18.0.1",
        "::1",
        "::",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fe80::1",
        "fd00::1",
        "2001::1",
        "2001:db8::1",
    ];

    #[test]
    fn a_place_is_one_port_of_one_machine() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let targets = Targets::public().and_at(at("127.0.0.1:8101"));
        assert_eq!(targets.check(at("127.0.0.1:8101")), Ok(()));
        assert_eq!(targets.check(at("[::ffff:127.0.0.1]:8101")), Ok(()));
        for other in ["127.0.0.1:8102", "127.0.0.2:8101", "[::1]:8101"] {
            assert!(targets.check(at(other)).is_err(), "{other}");
        }
    }

    #[test]
    fn a_server_in_the_open_does_not_call_behind_its_walls() {
        let targets = Targets::of_server(at("0.0.0.0", 8000));
        for inside in INSIDE {
            let refused = targets.check(at(inside, 8101));
            assert!(matches!(refused, Err(Forbidden::Inside(_))), "{inside}: {refused:?}");
        }
        for public in ["93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::1"] {
            assert_eq!(targets.check(at(public, 8101)), Ok(()), "{public}");
        }
    }

    #[test]
    fn a_server_on_all_addresses_knows_itself_at_each_of_them() {
        let targets = Targets::of_server(at("0.0.0.0", 8000)).and("10.0.0.0/8".parse().unwrap());
        let own = at("10.1.2.3", 8000);
        assert_eq!(targets.check(own), Ok(()), "nobody has named it");
        assert_eq!(targets.check_line(at("10.1.2.3", 50_000), own), Err(Forbidden::Own(own)));
        assert_eq!(targets.check_line(at("10.9.9.9", 50_000), own), Ok(()), "another machine");
        assert_eq!(targets.check_line(at("10.1.2.3", 50_000), at("10.1.2.3", 8101)), Ok(()));
    }

    #[test]
    fn a_loopback_server_calls_its_neighbours() {
        let targets = Targets::of_server(at("127.0.0.1", 8000));
        for inside in INSIDE {
            assert_eq!(targets.check(at(inside, 8101)), Ok(()), "{inside}");
        }
        for nobody in ["224.0.0.1", "255.255.255.255", "240.0.0.1", "ff02::1"] {
            let refused = targets.check(at(nobody, 8101));
            assert!(matches!(refused, Err(Forbidden::NotAMachine(_))), "{nobody}: {refused:?}");
        }
    }

    #[test]
    fn listed_networks_are_called_and_no_others() {
        let targets = Targets::public().and("10.1.0.0/16".parse().unwrap());
        let targets = targets.and("fd00::/8".parse().unwrap());
        for (host, allowed) in [
            ("10.1.2.3", true),
            ("::ffff:10.1.2.3", true),
            ("10.2.0.1", false),
            ("127.0.0.1", false),
            ("fd12::1", true),
            ("fe80::1", false),
        ] {
            assert_eq!(targets.check(at(host, 1)).is_ok(), allowed, "{host}");
        }
        for bad in ["10.1.2.3", "10.1.2.3/16", "10.0.0.0/33", "::/129", "x/8", "10.0.0.0/"] {
            assert_eq!(bad.parse::<Network>(), Err(BadNetwork), "{bad}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("1.2.3.4".parse().unwrap()));
        assert_eq!(all.to_string(), "0.0.0.0/0");
    }

    #[test]
    fn nobody_calls_itself() {
        let own = Targets::of_server(at("127.0.0.1", 8000));
        for host in ["127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0"] {
            assert!(matches!(own.check(at(host, 8000)), Err(Forbidden::Own(_))), "{host}");
            assert_eq!(own.check(at(host, 8001)), Ok(()), "{host}");
        }
        let all = Targets::everywhere().except(at("0.0.0.0", 8000));
        for host in ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1"] {
            assert!(matches!(all.check(at(host, 8000)), Err(Forbidden::Own(_))), "{host}");
        }
        let address: Address = "http://LOCALHOST:8000/mcp".parse().unwrap();
        assert!(own.check_address(&address).is_err());
    }
}
